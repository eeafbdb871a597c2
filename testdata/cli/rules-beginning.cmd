rules EF32
