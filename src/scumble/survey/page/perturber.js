// Perturbs one record on its owner's machine, exactly as scumble.privacy.perturber.Perturber does in Python.
//
// A word is a uniform integer from [0, 2^62). It is HMAC-SHA-256 of the attribute's context, the true code, the number of
// the row and the entity, under a key that never leaves this machine. A channel looks the word up in integer weights that
// sum to 2^62, so a report has exactly the distribution of the noise model. All arithmetic on words and weights is exact
// (BigInt). The description comes from scumble.survey.description; this file knows nothing else of a schema.

(function (root) {
  "use strict";

  const WORD_BITS = 62n;
  const TOTAL = 1n << WORD_BITS;
  const SHORTEST_SECRET = 16;
  const LABEL = "scumble perturb/2";

  // --- Keyed words ---

  async function macKey(bytes) {
    return root.crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  }

  async function mac(key, message) {
    return new Uint8Array(await root.crypto.subtle.sign("HMAC", key, message));
  }

  function bytesOfHex(hex) {
    return Uint8Array.from(hex.match(/../g) || [], (pair) => Number.parseInt(pair, 16));
  }

  // The words of one secret. The key of an attribute is derived once and kept.
  async function keyedWords(secret) {
    if (secret.length < SHORTEST_SECRET) throw new Error("The secret is too short. Use at least 16 random bytes.");
    const first = await macKey(await mac(await macKey(secret), new TextEncoder().encode(LABEL)));
    const keys = new Map();
    async function keyOf(context) {
      if (!keys.has(context)) keys.set(context, await macKey(await mac(first, bytesOfHex(context))));
      return keys.get(context);
    }
    return async function word(context, code, entity = "", occurrence = 1) {
      const name = new TextEncoder().encode(entity);
      const message = new Uint8Array(16 + name.length);
      const view = new DataView(message.buffer);
      view.setBigInt64(0, BigInt(code));
      view.setBigUint64(8, BigInt(occurrence));
      message.set(name, 16);
      const digest = await mac(await keyOf(context), message);
      return new DataView(digest.buffer).getBigUint64(0) >> (64n - WORD_BITS);
    };
  }

  // --- Channels ---

  // Running sums of the weights: sums[i] is the weight of the first i noise values.
  const runningSums = new WeakMap();

  function sumsOf(channel) {
    if (!runningSums.has(channel)) {
      const sums = [0n];
      for (const weight of channel.weights) sums.push(sums[sums.length - 1] + BigInt(weight));
      if (sums[sums.length - 1] !== TOTAL) throw new Error("The weights do not sum to 2^62.");
      runningSums.set(channel, sums);
    }
    return runningSums.get(channel);
  }

  // The noise value that a word selects: the first whose running sum exceeds it.
  function lookUp(sums, word) {
    let low = 0;
    let high = sums.length - 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle + 1] > word) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  function clamp(number, low, high) {
    return Math.min(Math.max(number, low), high);
  }

  const CHANNELS = {
    additive: {
      inputs: (channel) => channel.cells,
      outputs: (channel) => channel.cells * channel.refine + 2 * channel.margin,
      apply(channel, code, word) {
        const reach = (channel.weights.length - 1) / 2;
        const place = code * channel.refine + lookUp(sumsOf(channel), word) - reach + channel.margin;
        return clamp(place, 0, this.outputs(channel) - 1);
      },
      // The ends of the reported range collect all noise that would lead beyond them.
      weight(channel, code, report) {
        const sums = sumsOf(channel);
        const last = sums.length - 1;
        const place = report - (code * channel.refine + channel.margin - (channel.weights.length - 1) / 2);
        const from = report === 0 ? 0 : clamp(place, 0, last);
        const to = report === this.outputs(channel) - 1 ? last : clamp(place + 1, 0, last);
        return sums[to] - sums[from];
      },
    },
    replacement: {
      inputs: (channel) => channel.size,
      outputs: (channel) => channel.size,
      apply(channel, code, word) {
        const truth = BigInt(channel.truth);
        if (word < truth) return code;
        const other = BigInt(channel.other);
        const place = Number((word - truth) / (other > 0n ? other : 1n));
        return place >= code ? place + 1 : place;
      },
      weight: (channel, code, report) => BigInt(code === report ? channel.truth : channel.other),
    },
    grouping: {
      inputs: (channel) => channel.groups.length,
      outputs: (channel) => channel.groups[channel.groups.length - 1] + 1,
      apply: (channel, code) => channel.groups[code],
      weight: (channel, code, report) => (channel.groups[code] === report ? TOTAL : 0n),
    },
  };

  // A missing number has a code after those of the channel, and stays missing.
  function applyChannel(channel, code, word) {
    const law = CHANNELS[channel.kind];
    return code === law.inputs(channel) ? law.outputs(channel) : law.apply(channel, code, word);
  }

  // The weight, out of 2^62, with which a true code gives a report.
  function weightOf(channel, code, report) {
    const law = CHANNELS[channel.kind];
    const [missing, reported] = [code === law.inputs(channel), report === law.outputs(channel)];
    if (missing || reported) return missing && reported ? TOTAL : 0n;
    return law.weight(channel, code, report);
  }

  // --- Answers ---

  // The code of a true answer: a number, the code of a category, or null where it is withheld. Null where the survey
  // does not take the answer.
  function codeOf(answer, value) {
    if (value === null) return answer.missing;
    if (answer.kind === "category") {
      return Number.isInteger(value) && value >= 0 && value < answer.texts.length ? value : null;
    }
    const edges = answer.edges;
    const last = edges.length - 1;
    if (typeof value !== "number" || Number.isNaN(value)) return null;
    if (value === answer.missing_number) return answer.missing;
    if (value < edges[0] || value >= edges[last]) {
      return answer.clamp ? (value < edges[0] ? 0 : last - 1) : null;
    }
    let [low, high] = [0, last - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (edges[middle] <= value) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // --- What a report reveals ---

  // The probability of each true code, given the report, for somebody to whom all codes were equally likely before.
  function posterior(attribute, report) {
    const codes = attribute.answer.texts.map((_, code) => code);
    const weights = codes.map((code) => Number(weightOf(attribute.channel, code, report)));
    const sum = weights.reduce((left, right) => left + right, 0);
    return weights.map((weight) => weight / sum);
  }

  // The shortest run of codes with at least this probability.
  function shortestRun(probabilities, confidence) {
    let best = [0, probabilities.length];
    let [start, inside] = [0, 0];
    for (let end = 1; end <= probabilities.length; end += 1) {
      inside += probabilities[end - 1];
      while (inside - probabilities[start] >= confidence - 1e-12) {
        inside -= probabilities[start];
        start += 1;
      }
      if (inside >= confidence - 1e-12 && end - start < best[1] - best[0]) best = [start, end];
    }
    return best;
  }

  // --- Records ---

  class Perturber {
    constructor(description, word) {
      this.description = description;
      this.word = word;
    }

    static async from(description, secret) {
      if (description.keyed !== "hmac-sha256/2") throw new Error(`Unknown keyed function ${description.keyed}.`);
      return new Perturber(description, await keyedWords(secret));
    }

    // The reported code of one attribute.
    async report(attribute, code, entity = "") {
      return applyChannel(attribute.channel, code, await this.word(attribute.context, code, entity));
    }

    // The perturbed record as text, as in the published table. `codes` has the code of every reported attribute.
    async perturb(codes, entity = "") {
      const record = {};
      for (const attribute of this.description.attributes) {
        const code = codes[attribute.name];
        if (!Number.isInteger(code)) throw new Error(`The record has no ${attribute.name}.`);
        record[attribute.name] = attribute.reports[await this.report(attribute, code, entity)];
      }
      return record;
    }
  }

  const scumble = { Perturber, keyedWords, applyChannel, weightOf, codeOf, posterior, shortestRun, bytesOfHex };
  root.scumble = scumble;
  if (typeof module !== "undefined") module.exports = scumble;
})(globalThis);
