"""Annotations: what people say about answers, verdicts and damage; sheets of items, and the files they come back in.

A sheet has the items for one annotator, a page shows it (`report.annotation_page`), and an export has the annotator's
decisions. The packages that know the meaning of a row (`lab.checklists.marks`, `lab.discernment.weights`) read exports
and ordinary tables alike.
"""
