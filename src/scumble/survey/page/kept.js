// What this browser keeps: one secret for all surveys of this site and, for each survey, the tokens and the last blurred
// record that was sent under each. True answers are never kept.
//
// The noise is fixed by the secret, the survey and the token: a second visit of one person to one survey repeats it. Two people,
// and two surveys, get independent noise, even if they have the same answers to the same questions.

(function (root) {
  "use strict";

  const PLACE = "scumble-survey";

  function load() {
    try {
      const text = root.localStorage.getItem(PLACE);
      const kept = text === null ? null : JSON.parse(text);
      return kept && /^[0-9a-f]{64}$/.test(kept.secret) ? kept : null;
    } catch {
      return null;
    }
  }

  function hexOfRandom(length) {
    const bytes = root.crypto.getRandomValues(new Uint8Array(length));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function newToken() {
    const bytes = root.crypto.getRandomValues(new Uint8Array(16));
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }

  class Kept {
    constructor(survey) {
      this.survey = survey;
      this.data = load() || { secret: hexOfRandom(32), surveys: {} };
      this.data.surveys[survey] ||= { people: [] };
      // Whether a second visit will find the secret again.
      this.lasting = this.save();
    }

    save() {
      try {
        root.localStorage.setItem(PLACE, JSON.stringify(this.data));
        return load() !== null;
      } catch {
        return false;
      }
    }

    get secret() {
      return scumble.bytesOfHex(this.data.secret);
    }

    get people() {
      return this.data.surveys[this.survey].people;
    }

    // The place of the person with this token, who is added if new. Without a token: the last person, or a first one.
    person(token) {
      const found = token === null ? this.people.length - 1 : this.people.findIndex((each) => each.token === token);
      if (found >= 0) return found;
      this.people.push({ token: token === null ? newToken() : token, sent: null });
      this.save();
      return this.people.length - 1;
    }

    another() {
      return this.person(newToken());
    }

    // Distinguishes everybody who ever answers a survey in this browser, in the keyed function. Both parts have fixed lengths.
    entity(person) {
      return `${this.survey} ${this.people[person].token}`;
    }

    remember(person, record) {
      this.people[person].sent = record;
      this.save();
    }
  }

  root.surveyKept = { Kept };
})(globalThis);
