"""The algebra of offsets: expression nodes, their normal form, and the step that lanes take. Pure, no I/O."""
