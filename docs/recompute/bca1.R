# The BCa interval of algorithm bca-1, in base R:
#   Rscript bca1.R NUMERATORS.csv DENOMINATOR SEED
# The CSV has a header and two columns, task_key and numerator; a task's value is numerator / DENOMINATOR.
#
# R has no 64-bit integers: a word is a list of four limbs of 16 bits, the lowest first; each limb is a
# vector with one entry a word, so that all blocks of the stream are made at once.
RESAMPLES <- 10000
BASE <- 2^16

carried <- function(limbs) {
  last <- length(limbs)
  for (j in seq_len(last)) {
    over <- floor(limbs[[j]] / BASE)
    limbs[[j]] <- limbs[[j]] - over * BASE
    if (j < last) limbs[[j + 1]] <- limbs[[j + 1]] + over
  }
  limbs
}

times <- function(word, constant) { # 64 × 64 → 128 bits
  product <- rep(list(0), 8)
  for (i in 1:4) for (j in 1:4) {
    product[[i + j - 1]] <- product[[i + j - 1]] + word[[i]] * constant[[j]]
  }
  carried(product)
}

plus <- function(one, other) carried(Map(`+`, one, other))

xor <- function(one, other, key) Map(function(u, v, w) as.numeric(bitwXor(bitwXor(u, v), w)), one, other, key)

hex <- function(digits) as.list(as.numeric(strtoi(substring(digits, c(13, 9, 5, 1), c(16, 12, 8, 4)), 16L)))

decimal <- function(digits) { # a seed may be larger than a double can hold
  word <- as.list(numeric(4))
  for (digit in as.numeric(strsplit(digits, "")[[1]])) {
    word <- plus(lapply(word, `*`, 10), list(digit, 0, 0, 0))
  }
  word
}

# Upper halves of the first words of Philox4x64-10 under key (seed, 0); the first block has counter 1.
upper_halves <- function(seed, n_words) {
  blocks <- ceiling(n_words / 4)
  word1 <- word2 <- word3 <- rep(list(numeric(blocks)), 4)
  word0 <- carried(c(list(as.numeric(seq_len(blocks))), word1[2:4]))
  key0 <- decimal(seed)
  key1 <- as.list(numeric(4))
  for (round in 1:10) {
    first <- times(word0, hex("d2e7470ee14c6c93"))
    second <- times(word2, hex("ca5a826395121157"))
    word0 <- xor(second[5:8], word1, lapply(key0, rep, blocks))
    word1 <- second[1:4]
    word2 <- xor(first[5:8], word3, lapply(key1, rep, blocks))
    word3 <- first[1:4]
    key0 <- plus(key0, hex("9e3779b97f4a7c15"))
    key1 <- plus(key1, hex("bb67ae8584caa73b"))
  }
  halves <- sapply(list(word0, word1, word2, word3), function(word) word[[4]] * BASE + word[[3]])
  as.vector(t(halves))[seq_len(n_words)]
}

interval <- function(x, denominator, seed) {
  n <- length(x)
  drawn <- floor(upper_halves(seed, RESAMPLES * n) * n / 2^32) + 1
  sums <- sort(rowSums(matrix(x[drawn], RESAMPLES, n, byrow = TRUE)))
  total <- sum(x)
  z0 <- qnorm((sum(sums < total) + sum(sums == total) / 2) / RESAMPLES)
  d <- x - total / n
  a <- sum(d^3) / (6 * sum(d^2)^1.5)
  z <- qnorm(c(0.025, 0.975))
  bounds <- quantile(sums, pnorm(z0 + (z0 + z) / (1 - a * (z0 + z))), type = 7, names = FALSE)
  bounds <- bounds / (n * denominator)
  c(estimate = total / (n * denominator), z0 = z0, a = a, lower = bounds[1], upper = bounds[2])
}

given <- commandArgs(trailingOnly = TRUE)
tasks <- read.csv(given[1], colClasses = c("character", "numeric"))
x <- tasks$numerator[order(tasks$task_key, method = "radix")]
if (length(x) * max(abs(x)) >= 2^53) stop("the numerators are too large for R's numbers; use bca1.js")
cat("tasks ", length(x), "\n", sep = "")
if (all(x == x[1])) {
  cat("no interval: one task, or all tasks have the same value\n")
} else {
  found <- interval(x, as.numeric(given[2]), given[3])
  cat(sprintf("%s %.6f\n", names(found), found), sep = "")
}
