rules test nothere
