// The fields of a questionnaire, made from the description: each with a label, a hint, and a place for an error.
// All texts of others are set as text, never as markup.

(function (root) {
  "use strict";

  const MOST_RADIOS = 6;

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") element.textContent = value;
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function percent(share) {
    const hundredths = Math.round(share * 1000) / 10;
    return share > 0.9995 && share < 1 ? "more than 99.9 %" : `${hundredths} %`;
  }

  const INTERVAL = /^\[(.*),(.*)\)$/;

  // The text of a code in words: cells of unequal widths are reported as intervals, such as [3,5).
  function inWords(answer, code) {
    const interval = answer.kind === "number" ? INTERVAL.exec(answer.texts[code]) : null;
    return interval ? `${interval[1]} to below ${interval[2]}` : answer.texts[code];
  }

  // The ends of a number's range as text. The last edge has no cell of its own, so it is written from the number.
  function ends(answer, low, high) {
    const text = (place) => (place < answer.edges.length - 1 ? answer.texts[place] : String(answer.edges[place]));
    const [first, last] = [INTERVAL.exec(text(low)), INTERVAL.exec(answer.texts[high - 1])];
    return [first ? first[1] : text(low), last ? last[2] : text(high)];
  }

  function numberField(id, answer) {
    const [low, high] = ends(answer, 0, answer.edges.length - 1);
    const input = make("input", { type: "number", id, step: "any", inputmode: "decimal", "aria-describedby": `${id}-hint ${id}-error` });
    const hint = `A number from ${low} to below ${high}.${answer.clamp ? " A number outside counts as the nearest one." : ""}`;
    return {
      hint,
      parts: [input],
      focus: () => input.focus(),
      invalid: (is) => input.setAttribute("aria-invalid", String(is)),
      disable: (is) => { input.disabled = is; },
      read() {
        const text = input.value.trim();
        if (text === "" || input.validity.badInput) return { error: "Give a number." };
        const code = scumble.codeOf(answer, Number(text));
        if (code === null) return { error: `Give a number from ${low} to below ${high}.` };
        // With `missing: -999` in the schema, the number -999 is no answer.
        return { code, value: code === answer.missing ? null : Number(text) };
      },
    };
  }

  function categoryField(id, answer) {
    const options = answer.texts.map((text, code) => [text, code]).filter(([, code]) => code !== answer.missing);
    if (options.length > MOST_RADIOS) {
      const select = make("select", { id, "aria-describedby": `${id}-error` }, make("option", { value: "", text: "Choose" }));
      for (const [text, code] of options) select.append(make("option", { value: code, text: text || "(empty)" }));
      return {
        hint: "",
        parts: [select],
        focus: () => select.focus(),
        invalid: (is) => select.setAttribute("aria-invalid", String(is)),
        disable: (is) => { select.disabled = is; },
        read: () => (select.value === "" ? { error: "Choose one." } : { code: Number(select.value), value: Number(select.value) }),
      };
    }
    const inputs = options.map(([, code]) => make("input", { type: "radio", name: id, value: code }));
    const labels = options.map(([text], place) => make("label", {}, inputs[place], make("span", { text: text || "(empty)" })));
    return {
      group: true,
      hint: "",
      parts: [make("div", { class: "choices" }, ...labels)],
      focus: () => inputs[0].focus(),
      invalid: () => {},
      disable: (is) => { for (const input of inputs) input.disabled = is; },
      read() {
        const chosen = inputs.find((input) => input.checked);
        return chosen ? { code: Number(chosen.value), value: Number(chosen.value) } : { error: "Choose one." };
      },
    };
  }

  // One question. `read` returns the code of the answer, and its value, which is null where the answer is withheld. If the answer
  // is wrong, it shows why and returns null. An answer can be withheld if its attribute has a missing value and it is optional.
  function question(attribute, title, place, { optional = true, withholding = "I would rather not answer." } = {}) {
    const answer = attribute.answer;
    const id = `question-${place}`;
    const field = answer.kind === "number" ? numberField(id, answer) : categoryField(id, answer);
    const error = make("p", { class: "error", id: `${id}-error` });
    const hint = make("p", { class: "hint", id: `${id}-hint`, text: field.hint });
    const heading = field.group ? make("legend", { text: title }) : make("label", { for: id, text: title });
    const element = make(field.group ? "fieldset" : "div", { class: "question" }, heading, ...(field.hint ? [hint] : []), ...field.parts);
    const withheld = make("input", { type: "checkbox", id: `${id}-withheld` });
    if (answer.missing !== null && optional) {
      element.append(make("label", { class: "choice" }, withheld, make("span", { text: withholding })));
      withheld.addEventListener("change", () => field.disable(withheld.checked));
    }
    element.append(error);
    element.addEventListener("input", () => {
      error.textContent = "";
      field.invalid(false);
    });
    return {
      attribute,
      title,
      element,
      focus: field.focus,
      read() {
        let found = withheld.checked ? { code: answer.missing, value: null } : field.read();
        if (found.value === null && !optional) found = { error: "This question needs an answer." };
        error.textContent = found.error || "";
        field.invalid(Boolean(found.error));
        return found.error ? null : found;
      },
    };
  }

  // --- What a report reveals, in words ---

  function isTruthful(attribute) {
    return attribute.kind === "truthful";
  }

  function numberSentence(attribute, likely, confidence) {
    const answer = attribute.answer;
    const cells = answer.edges.length - 1;
    const [low, high] = scumble.shortestRun(likely, confidence);
    const [from, to] = ends(answer, low, Math.min(high, cells));
    if (low === 0 && high >= cells) return `Hardly anything: at ${percent(confidence)} confidence, every answer from ${from} to ${to} remains possible.`;
    return `At ${percent(confidence)} confidence, your answer lies from ${from} to below ${to}.`;
  }

  // Sentences about a report, and the probability of each answer given the report. `withheld`: there was no answer.
  function conclusion(attribute, report, confidence, withheld) {
    const answer = attribute.answer;
    const likely = scumble.posterior(attribute, report);
    if (isTruthful(attribute)) return { likely, sentences: ["Everything: this answer is sent without noise."] };
    const sentences = [];
    const stays = answer.missing !== null && likely[answer.missing] === 1;
    if (stays) sentences.push("That you did not answer: this choice is visible.");
    else if (attribute.ordered && answer.kind === "number") sentences.push(numberSentence(attribute, likely, confidence));
    else {
      const best = likely.indexOf(Math.max(...likely));
      const what = best === answer.missing ? "that you did not answer" : `that your answer is “${inWords(answer, best)}”`;
      sentences.push(`They can be ${percent(likely[best])} sure ${what}.`);
    }
    if (withheld && !stays) sentences.push("That you did not answer is blurred like any answer.");
    if (attribute.most_sure !== null && !stays) {
      sentences.push(`With other knowledge: from 50 % sure of something about this answer to at most ${percent(attribute.most_sure)}.`);
    }
    return { likely, sentences };
  }

  // A bar of the plausible answers, with a mark at the true one.
  function bar(likely, code) {
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    const highest = Math.max(...likely);
    const width = 1000;
    svg.setAttribute("class", "bar");
    svg.setAttribute("viewBox", `0 0 ${width} 10`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const pieces = Math.min(likely.length, 200);
    for (let piece = 0; piece < pieces; piece += 1) {
      const [from, to] = [piece, piece + 1].map((each) => Math.floor((each * likely.length) / pieces));
      const rectangle = document.createElementNS(namespace, "rect");
      const share = Math.max(...likely.slice(from, to)) / highest;
      const facts = { x: (piece * width) / pieces, y: 0, width: width / pieces + 0.5, height: 10, class: "likely", "fill-opacity": share.toFixed(3) };
      for (const [name, value] of Object.entries(facts)) rectangle.setAttribute(name, value);
      svg.append(rectangle);
    }
    const mark = document.createElementNS(namespace, "rect");
    const middle = ((code + 0.5) * width) / likely.length;
    for (const [name, value] of Object.entries({ x: Math.max(middle - 5, 0), y: 0, width: 10, height: 10, class: "true" })) mark.setAttribute(name, value);
    svg.append(mark);
    return svg;
  }

  root.surveyQuestions = { make, question, conclusion, inWords, bar, percent };
})(globalThis);
