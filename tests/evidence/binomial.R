# Exact binomial figures by base R: Rscript binomial.R > binomial.txt
#
# A line begins with what it is of:
#   interval,x,n,low,high,one_sided_low   Clopper-Pearson at 95 % by binom.test
#   mcnemar,b,c,p                         two-sided exact p of b against c by binom.test
#   holm,family,p,adjusted                p.adjust(method = "holm"), p in sixty-fourths
digits <- function(v) format(v, digits = 17, scientific = TRUE, trim = TRUE)

cat("# ", R.version.string, "\n", sep = "")
for (n in c(1, 2, 3, 5, 10, 13, 20, 29, 59, 80, 127)) {
  for (x in unique(round(seq(0, n, length.out = min(n + 1, 12))))) {
    both <- binom.test(x, n)$conf.int
    lower <- binom.test(x, n, alternative = "greater")$conf.int[1]
    cat("interval", x, n, digits(both[1]), digits(both[2]), digits(lower), sep = ",")
    cat("\n")
  }
}
for (b in c(0:8, 13, 21, 34, 55)) {
  for (c in c(0:8, 13, 21, 34, 55)) {
    p <- if (b + c == 0) 1 else binom.test(b, b + c)$p.value
    cat("mcnemar", b, c, digits(p), sep = ",")
    cat("\n")
  }
}
set.seed(1)
for (family in 1:6) {
  p <- sample(0:64, size = c(1, 2, 5, 10, 45, 78)[family], replace = TRUE) / 64
  if (family > 3) p <- p / 1024
  adjusted <- p.adjust(p, method = "holm")
  for (i in seq_along(p)) {
    cat("holm", family, digits(p[i]), digits(adjusted[i]), sep = ",")
    cat("\n")
  }
}
