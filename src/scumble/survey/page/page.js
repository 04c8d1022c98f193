// The course of the page: consent, answers, what leaves this device, sending, withdrawal. Nothing is sent before `send`.

(function () {
  "use strict";

  const { make, question, conclusion, inWords, bar } = globalThis.surveyQuestions;
  const survey = globalThis.surveyDescription;
  const at = (id) => document.getElementById(id);
  const STEPS = ["consent", "answers", "review", "done"];
  // A page without a server makes records, which people send in another way, and cannot know whether they did.
  const MADE = survey.served ? "sent" : "made";
  const SECTIONS = survey.served ? [...STEPS, "withdrawal"] : STEPS;

  function problem(text) {
    at("problem").textContent = text;
    at("problem").hidden = text === "";
  }

  function show(section) {
    for (const each of SECTIONS) at(each).hidden = each !== section;
    at("steps").hidden = false;
    for (const each of STEPS) {
      if (each === section) at(`step-${each}`).setAttribute("aria-current", "step");
      else at(`step-${each}`).removeAttribute("aria-current");
    }
    problem("");
    at(`${section}-heading`).focus();
    globalThis.scrollTo(0, 0);
  }

  // The token of an invitation is behind the # of the link, which browsers send to nobody. It is taken out of the address.
  function invitedToken() {
    const token = location.hash.slice(1);
    if (!/^[A-Za-z0-9_-]{22}$/.test(token)) return null;
    history.replaceState(null, "", location.pathname + location.search);
    return token;
  }

  async function post(path, message) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(message),
      credentials: "omit",
    });
    const result = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(result.error || `The server answered with the status ${answer.status}. Try again later.`);
    return result;
  }

  function questions() {
    return survey.attributes.map((attribute, place) =>
      question(attribute, survey.questions[attribute.name] || attribute.name, place, { optional: !survey.required.includes(attribute.name) }));
  }

  class SurveyPage {
    constructor(kept, perturber, person) {
      this.kept = kept;
      this.perturber = perturber;
      this.person = person;
      this.fields = questions();
      at("fields").append(...this.fields.map((field) => field.element));
    }

    get token() {
      return this.kept.people[this.person].token;
    }

    begin() {
      if (!at("agree").checked) {
        at("agree-error").textContent = "Nothing is asked and nothing is sent unless you agree.";
        at("agree").focus();
        return;
      }
      at("agree-error").textContent = "";
      show("answers");
    }

    async review() {
      const found = this.fields.map((field) => field.read());
      const wrong = this.fields.filter((_, place) => found[place] === null);
      at("mistakes").hidden = wrong.length === 0;
      if (wrong.length > 0) {
        const list = make("ul", {}, ...wrong.map((field) => make("li", { text: field.title })));
        at("mistakes").replaceChildren(make("p", { text: "Please look again at:" }), list);
        wrong[0].focus();
        return;
      }
      this.record = {};
      this.truths = {};
      at("rows").replaceChildren();
      for (const [place, field] of this.fields.entries()) {
        const { attribute } = field;
        const report = await this.perturber.report(attribute, found[place].code, this.kept.entity(this.person));
        this.record[attribute.name] = attribute.reports[report];
        at("rows").append(this.row(field, found[place], report, place));
      }
      this.showChange();
      this.showMessage();
      show("review");
    }

    row(field, found, report, place) {
      const { attribute } = field;
      const { likely, sentences } = conclusion(attribute, report, survey.confidence, found.value === null);
      const own = found.value === null ? "(not answered)" : attribute.answer.kind === "number" ? String(found.value) : attribute.answer.texts[found.code];
      const counted = attribute.answer.texts[found.code];
      const answer = make("td", {}, make("span", { class: "label", text: "Your answer, stays here: " }), make("span", { class: "value", text: own }));
      if (attribute.answer.kind === "number" && found.value !== null && Number(counted) !== found.value) {
        answer.append(make("span", { class: "soft", text: `, counts as ${inWords(attribute.answer, found.code)}` }));
      }
      const sent = make("td", {}, make("span", { class: "label", text: "Blurred answer, is sent: " }), make("span", { class: "value", text: attribute.reports[report] }));
      if (survey.truths.includes(attribute.name) && found.value !== null) sent.append(this.truthChoice(attribute, found.code, place));
      const concluded = make("td", { class: "concluded" }, bar(likely, found.code), ...sentences.map((text) => make("p", { text })));
      return make("tr", {}, make("th", { scope: "row", text: field.title }), answer, sent, concluded);
    }

    truthChoice(attribute, code, place) {
      const box = make("input", { type: "checkbox", id: `truth-${place}` });
      box.addEventListener("change", () => {
        if (box.checked) this.truths[attribute.name] = attribute.answer.texts[code];
        else delete this.truths[attribute.name];
        this.showMessage();
      });
      return make("label", { class: "choice" }, box, make("span", { text: `Also send my true answer, ${attribute.answer.texts[code]}. Nothing protects it then.` }));
    }

    showChange() {
      const before = this.kept.people[this.person].sent;
      const changed = before === null ? [] : this.fields.filter((field) => before[field.attribute.name] !== this.record[field.attribute.name]);
      at("changed").hidden = before === null;
      at("changed").textContent = changed.length === 0
        ? `You ${MADE} a record in this browser before, and this one is the same. Sending it again reveals nothing new, but whoever sees both can link the two visits.`
        : `This record differs from the one you ${MADE} before in: ${changed.map((field) => field.title).join(", ")}. Whoever sees both learns that these answers changed, and more about them than from one record.`;
    }

    get message() {
      return { survey: survey.survey, token: this.token, record: this.record, truths: this.truths };
    }

    showMessage() {
      at("message").textContent = JSON.stringify(this.message, null, 2);
    }

    async send() {
      const text = JSON.stringify(this.message, null, 2);
      if (!survey.served) {
        at("record-text").value = text;
        at("download").href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
        this.finish("It was made in this browser. Nothing has been sent.");
        return;
      }
      at("send").disabled = true;
      try {
        const { replaced } = await post("records", this.message);
        this.finish(replaced ? "It replaced the record that you sent before." : "One record is stored for you.");
      } catch (error) {
        problem(`The record was not stored. ${error.message}`);
      } finally {
        at("send").disabled = false;
      }
    }

    finish(text) {
      this.kept.remember(this.person, this.record);
      at("done-text").textContent = text;
      at("token").textContent = this.token;
      show("done");
    }

    async withdraw() {
      try {
        await post("withdrawals", { survey: survey.survey, token: this.token });
        this.kept.remember(this.person, null);
        show("withdrawal");
      } catch (error) {
        problem(`The record was not withdrawn. ${error.message}`);
      }
    }

    // The fields are emptied, because the next person must not see the answers of the last one.
    another() {
      this.person = this.kept.another();
      this.fields = questions();
      at("fields").replaceChildren(...this.fields.map((field) => field.element));
      for (const id of ["rows", "message"]) at(id).replaceChildren();
      at("agree").checked = false;
      show("consent");
    }
  }

  async function withdrawOther() {
    at("other-error").textContent = "";
    try {
      await post("withdrawals", { survey: survey.survey, token: at("other-token").value.trim() });
      show("withdrawal");
    } catch (error) {
      at("other-error").textContent = error.message;
    }
  }

  async function start() {
    if (!globalThis.isSecureContext || !globalThis.crypto?.subtle) {
      problem("This page cannot blur anything here: browsers offer the necessary cryptography only on pages that arrive over https, from this device itself, or from a file. Ask for an https address. Nothing is sent.");
      return;
    }
    if (survey.served && !survey.open) {
      problem("This survey is closed. It takes no more answers.");
      return;
    }
    const token = invitedToken();
    const kept = new globalThis.surveyKept.Kept(survey.survey);
    if (survey.invited && token === null && kept.people.length === 0) {
      problem("This survey is for people with an invitation. Open the link of your invitation, as it was sent.");
      return;
    }
    const page = new SurveyPage(kept, await scumble.Perturber.from(survey, kept.secret), kept.person(token));
    at("begin").addEventListener("click", () => page.begin());
    at("questions").addEventListener("submit", (event) => {
      event.preventDefault();
      page.review();
    });
    at("back").addEventListener("click", () => show("answers"));
    at("send").addEventListener("click", () => page.send());
    at("restart")?.addEventListener("click", () => show("answers"));
    at("again")?.addEventListener("click", () => show("answers"));
    at("withdraw")?.addEventListener("click", () => page.withdraw());
    at("another")?.addEventListener("click", () => page.another());
    at("other-withdraw")?.addEventListener("click", withdrawOther);
    if (at("elsewhere")) at("elsewhere").hidden = false;
    show("consent");
    if (!kept.lasting) problem("This browser does not keep the secret of your noise. If you answer again later, the noise is drawn anew, and two records reveal more than one: answer once.");
    else if (kept.people[page.person].sent !== null) {
      if (!survey.served) problem("You made a record in this browser before. If you make one again, changed or not, and send it, it replaces the one before.");
      else {
        problem("You sent a record from this browser before. You can send it again, changed or not, which replaces it, or withdraw it.");
        const button = make("button", { type: "button", class: "second", id: "withdraw-before", text: "Withdraw my record" });
        button.addEventListener("click", () => page.withdraw());
        at("problem").append(make("br"), button);
      }
    }
  }

  start();
})();
