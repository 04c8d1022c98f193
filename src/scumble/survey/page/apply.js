// Asks for the values that the tree uses, and applies it here. This file has no way to send anything.

(function () {
  "use strict";

  const { make, question, percent } = globalThis.surveyQuestions;
  const survey = globalThis.surveyDescription;
  const model = globalThis.surveyModel;
  const at = (id) => document.getElementById(id);
  const used = new Set(model.nodes.feature.filter((feature) => feature >= 0).map((feature) => model.features[feature].name));
  const asked = survey.attributes.filter((attribute) => used.has(attribute.name));
  const fields = asked.map((attribute, place) =>
    question(attribute, survey.questions[attribute.name] || attribute.name, place, { withholding: "I do not know." }));

  // A question that ends with its own mark needs no colon.
  const named = (title) => (title.endsWith("?") ? title : `${title}:`);

  function step({ feature, threshold, left, missing }) {
    const title = named(survey.questions[feature] || feature);
    if (missing) return `${title} no value, so the ${left ? "first" : "second"} branch`;
    const values = model.features.find((each) => each.name === feature).values;
    if (values === undefined) return `${title} ${left ? "below" : "at least"} ${threshold}`;
    const first = values.filter((_, place) => place < threshold === left);
    return `${title} one of ${first.join(", ")}`;
  }

  function apply(event) {
    event.preventDefault();
    const record = {};
    for (const field of fields) {
      const found = field.read();
      if (found === null) {
        field.focus();
        return;
      }
      const { name, answer } = field.attribute;
      // A missing number is null. A missing category is a category with a name, in the tree, too.
      record[name] = answer.kind === "number" ? found.value : answer.texts[found.code];
    }
    const { class: outcome, shares, path } = globalThis.surveyTree.classify(model, record);
    at("result").textContent = `${named(survey.questions[model.target] || model.target || "Class")} ${outcome}`;
    at("shares").replaceChildren(...model.classes.map((name, place) => make("li", { text: `${name}: ${percent(shares[place])}` })));
    at("path").replaceChildren(...path.map((each) => make("li", { text: step(each) })));
    at("outcome").hidden = false;
    at("outcome-heading").focus();
  }

  at("fields").append(...fields.map((field) => field.element));
  if (fields.length === 0) at("fields").append(make("p", { text: "The tree asks for nothing: it has a single leaf." }));
  at("values").addEventListener("submit", apply);
})();
