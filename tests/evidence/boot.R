# BCa intervals by R's package boot: Rscript boot.R > boot.txt
#
# One line a data set: acceleration from the jackknife, the interval from a million resamples, and the
# standard deviation of either bound over a hundred intervals of 10,000 resamples each, which is what a
# bound of 10,000 resamples is worth.
suppressMessages(library(boot))

RESAMPLES <- 1e6
BATCH <- 1e4

# The half weight of ties and the type 7 quantile are those of the published algorithm; package boot counts
# strictly and interpolates on the normal scale, which is below the noise of a batch.
batch_bounds <- function(t, t0, a, level) {
  z0 <- qnorm(mean(t < t0) + mean(t == t0) / 2)
  z <- qnorm(c((1 - level) / 2, (1 + level) / 2))
  quantile(t, pnorm(z0 + (z0 + z) / (1 - a * (z0 + z))), type = 7)
}

report <- function(name, x, statistic, level) {
  set.seed(20260101)
  made <- boot(x, function(d, i) statistic(d[i]), R = RESAMPLES)
  influence <- empinf(made, type = "jack")
  a <- sum(influence^3) / (6 * sum(influence^2)^1.5)
  bounds <- suppressWarnings(boot.ci(made, conf = level, type = "bca", L = influence))$bca[4:5]
  batches <- apply(matrix(made$t, nrow = BATCH), 2, batch_bounds, t0 = made$t0, a = a, level = level)
  figures <- c(made$t0, a, bounds, apply(batches, 1, sd))
  cat(name, level, format(figures, digits = 10, scientific = FALSE, trim = TRUE), sep = ",")
  cat("\n")
}

cat("# ", R.version.string, "; boot ", as.character(packageVersion("boot")), "\n", sep = "")
cat("name,level,estimate,a,low,high,sd_low,sd_high\n")

# Times between failures of the air-conditioning of an aircraft: boot's data set aircondit.
report("aircondit", aircondit$hours, mean, 0.95)

# The numbers of SciPy's test of a bootstrapped mean against this package.
sixteen <- c(10, 12, 12.5, 12.5, 13.9, 15, 21, 22, 23, 34, 50, 81, 89, 121, 134, 213)
report("sixteen", sixteen, mean, 0.95)

# Spatial test data A: Efron & Tibshirani (1993), table 14.1; the statistic is the plug-in variance.
spatial <- c(48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41)
report("spatial", spatial, function(x) mean((x - mean(x))^2), 0.90)
