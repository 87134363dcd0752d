"""Names in EPL text: which type one means, what a misspelt one is close to, what to do about an unknown one."""
