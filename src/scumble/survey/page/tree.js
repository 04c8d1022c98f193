// Applies a decision tree of `scumble mine train` to true values, as TreeModel.probabilities does in Python.

(function (root) {
  "use strict";

  const LEAF = -1;

  // The place of one true value among the values of a feature, or the number itself; NaN where it is missing.
  function featureValue(feature, value) {
    if (value === null || value === undefined) return Number.NaN;
    if (feature.values === undefined) return typeof value === "number" ? value : Number.NaN;
    const place = feature.values.indexOf(value);
    return place < 0 ? Number.NaN : place;
  }

  // The probability of each class at the leaf that a record of true values reaches, and the tests on the way.
  function classify(model, record) {
    const nodes = model.nodes;
    const path = [];
    let node = 0;
    while (nodes.feature[node] !== LEAF) {
      const feature = model.features[nodes.feature[node]];
      const value = featureValue(feature, record[feature.name]);
      const left = Number.isNaN(value) ? nodes.missing_left[node] : value < nodes.threshold[node];
      path.push({ feature: feature.name, threshold: nodes.threshold[node], left, missing: Number.isNaN(value) });
      node = left ? nodes.left[node] : nodes.right[node];
    }
    const shares = nodes.shares[node];
    return { class: model.classes[shares.indexOf(Math.max(...shares))], shares, path };
  }

  root.surveyTree = { classify, featureValue };
  if (typeof module !== "undefined") module.exports = root.surveyTree;
})(globalThis);
