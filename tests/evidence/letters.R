# Compact letter displays by R's packages multcompView and multcomp: Rscript letters.R > letters.txt
#
# Documented examples of both packages, then graphs drawn at random. A block is
#   example NAME, then one line `row ROW LETTERS` a row, then one line `apart ROW ROW` a pair that differs
suppressMessages({
  library(multcompView)
  library(multcomp)
})

show <- function(name, shown, apart) {
  cat("example ", name, "\n", sep = "")
  for (row in names(shown)) cat("row ", row, " ", shown[[row]], "\n", sep = "")
  rows <- rownames(apart)
  for (i in seq_along(rows)) for (j in seq_len(i - 1)) {
    if (apart[i, j]) cat("apart ", rows[j], " ", rows[i], "\n", sep = "")
  }
}

# Pairs named "A-B", as multcompLetters takes them; a pair left out is one not shown to differ.
matrix_of <- function(pairs) {
  ends <- do.call(rbind, strsplit(names(pairs), "-"))
  rows <- unique(as.vector(t(ends)))
  apart <- matrix(FALSE, length(rows), length(rows), dimnames = list(rows, rows))
  apart[ends] <- pairs
  apart | t(apart)
}

cat("# ", R.version.string, "; multcompView ", as.character(packageVersion("multcompView")),
    "; multcomp ", as.character(packageVersion("multcomp")), "\n", sep = "")

# help(multcompLetters), example 1: a logical vector.
pairs <- c("A-B" = FALSE, "A-C" = FALSE, "B-C" = TRUE)
show("dif3", multcompLetters(pairs)$Letters, matrix_of(pairs))

# Example 2: p-values.
p <- c("a-b" = .01, "a-c" = .02, "b-d" = .03, "a-d" = 1)
show("dif4", multcompLetters(p)$Letters, matrix_of(p < 0.05))

# Example 3: the 43 rows of USJudgeRatings told apart by their distance; rows are numbered here.
judges <- as.matrix(dist(USJudgeRatings))
dimnames(judges) <- list(paste0("j", 1:43), paste0("j", 1:43))
median_distance <- median(dist(USJudgeRatings))
show("judges", multcompLetters(judges, compare = ">", threshold = median_distance)$Letters,
     judges > median_distance)

# Example 6: eleven treatments by Tukey's honest differences.
set.seed(4)
invisible(rnorm(100))
treatments <- c("dtl", "ctrl", "treat1", "treat2", "treatA2", "treatB", "treatB2", "treatC", "treatD",
                "treatA1", "treatX")
experiment <- data.frame(
  treatments = gl(11, 20, labels = treatments),
  y = unlist(lapply(c(10, 20, 22, 24, 35, 37, 40, 43, 45, 60, 60), function(m) rnorm(20, m, 5)))
)
tukey <- TukeyHSD(aov(y ~ treatments, data = experiment))$treatments[, "p adj"]
show("treatments", multcompLetters2(y ~ treatments, tukey, experiment)$Letters, matrix_of(tukey < 0.05))

# help(cld) of multcomp, its three examples. Its list of pairs names the columns of `comps`.
show_cld <- function(name, model) {
  display <- cld(model)
  names(display$signif) <- paste(display$comps[, 1], display$comps[, 2], sep = "-")
  show(name, display$mcletters$Letters, matrix_of(display$signif))
}
set.seed(1)
tension <- mcp(tension = "Tukey")
show_cld("warpbreaks", glht(aov(breaks ~ tension, data = warpbreaks), linfct = tension))
show_cld("warpbreaks_wool", glht(aov(breaks ~ tension + wool, data = warpbreaks), linfct = tension))
survival <- glm(Survived ~ Class, data = as.data.frame(Titanic), weights = Freq, family = binomial())
show_cld("titanic", glht(survival, mcp(Class = "Tukey")))

# Graphs without any structure, sparse to dense.
set.seed(2)
for (k in 1:24) {
  n <- sample(4:13, 1)
  apart <- matrix(FALSE, n, n, dimnames = list(paste0("r", 1:n), paste0("r", 1:n)))
  apart[upper.tri(apart)] <- runif(n * (n - 1) / 2) < k / 25
  apart <- apart | t(apart)
  show(paste0("random", k), multcompLetters(apart)$Letters, apart)
}
