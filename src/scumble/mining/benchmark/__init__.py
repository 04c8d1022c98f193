"""The classifiers that compare the utility of tables: one pruned tree and one boosting model, the same for all."""
