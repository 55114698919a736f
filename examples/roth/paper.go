package main

import "strings"

// What the paper says, as it says it: Roth 2011.

// A document of his Table 1, with the characters and words that he counted.
type document struct {
	name         string
	short        string // heading of a column
	chars, words int
	standIn      bool // his own was not published
}

// table1 is in his order, which is that of his matrices.
var table1 = []document{
	{"AddToClipboardAction.java", "java", 3632, 213, true},
	{"DeleteDocument.class", "class", 18468, 2711, true},
	{"Gettysburg.txt", "Gettysburg", 1473, 270, false},
	{"Proverbs.txt", "all", 91384, 19157, false},
	{"Proverbs1-16.txt", "1-16", 42069, 8376, false},
	{"Proverbs1-24.txt", "1-24", 69016, 13736, false},
	{"Proverbs25-31.txt", "25-31", 22368, 4421, false},
	{"TargetSetup.Result.txt", "log", 3115, 347, true},
	{"usConstitution(copy).txt", "(copy)", 48067, 7669, false},
	{"usConstitution-BillofRights.txt", "-Bill", 32006, 5039, false},
	{"usConstitution-noPreamble.txt", "-noPre", 47728, 7617, false},
	{"usConstitution.txt", "whole", 48067, 7669, false},
	{"usDOI-1.txt", "-1", 8147, 1337, false},
	{"usDOI-Grievances.txt", "-Griev", 4093, 682, false},
	{"usDOI.txt", "whole", 8179, 1341, false},
}

// A zone is a group of documents that he knew to be similar: section 4.1.
type zone struct {
	table    int // its number in the paper
	name     string
	members  []int  // of table1
	expected string // E exact, S similar, M medium, L low similarity, - none; a word a row
}

var zones = []zone{
	{6, "Proverbs", []int{3, 4, 5, 6}, "ESSL SES- SSE- L--E"},
	{7, "Constitution", []int{8, 9, 10, 11}, "ESSE SESM SSES ESSE"},
	{8, "Declaration of Independence", []int{12, 13, 14}, "ELS LEL SLE"},
}

var levels = map[byte]string{'E': "exact", 'S': "similar", 'M': "medium", 'L': "low", '-': "none"}

// wanted reports whether a level of expectation asks for a hit: what he calls
// complete agreement in section 5.2.1 has none at low similarity.
func wanted(level byte) bool { return level != 'L' && level != '-' }

// A candidate is a row of his Table 9 with its Tables 10 to 24, one for each zone.
type candidate struct {
	variant             string
	falsePositives      int
	falseNegatives      int
	correct             int
	score               string
	firstTable          int
	zone1, zone2, zone3 string
}

func (c candidate) cells(zone int) []string {
	return strings.Fields([]string{c.zone1, c.zone2, c.zone3}[zone])
}

const all16 = "1111 1111 1111 1111"

var table9 = []candidate{
	{"43B/40", 0, 10, 35, "3.50", 10, "1110 1110 1110 0001", all16, "101 010 101"},
	{"47C/40", 14, 5, 40, "2.11", 13, "1110 0111 1111 0101", "1111 1101 1111 1111", "111 111 111"},
	{"43B/4", 3, 13, 32, "2.00", 16, "1110 1110 1110 0001", "1111 0100 1111 1111", "101 010 101"},
	{"3B/16", 8, 10, 35, "1.94", 19, "1110 1110 1110 0001", all16, "101 010 101"},
	{"21B/40", 2, 14, 31, "1.94", 22, "1110 1110 1110 0001", "1111 0100 1011 1111", "101 010 101"},
}

// figure3 gives the methods of his Figure 3 from left to right, the most
// frequent first; the heights of its bars are not printed.
var figure3 = []int{49, 27, 29, 47, 3, 43, 25, 35, 45, 41, 21, 23, 1, 4, 44, 5, 30}

// Of his 672 combinations, 104 scored above 1 (section 5).
const (
	hisCombinations = 672
	hisAboveOne     = 104
)

// footnotes are the places where the paper and its own numbers part.
var footnotes = []string{
	`672 combinations (section 5) count a method 13 for characters, which section 3.4 says does not exist: 41 methods in 4 variations and 4 runs are 656.`,
	`Table 1 gives Proverbs.txt 19,157 words, a typing error for 18,157: its two parts have 13,736 and 4,421. Their characters do add up.`,
	`The headings of sections 5.2.1 and 5.2.3 to 5.2.5 and their tables' captions disagree on which of k and w is which. Table 5 and Table 9 decide: k=40, w=100.`,
	`A false negative is a 0 anywhere within a zone (section 4.2), also where Tables 6 to 8 expect low similarity or none. Ten cells are of that kind, so 43B, "in complete agreement with the expected values", has ten false negatives, and no method that agrees can score more than its 3.50. F1 counts what the tables expect: 43B has 1.00.`,
	`Section 5.2.3 gives 43B with k=4 three false negatives; Table 9 has 13. Three lie where a hit was expected (Table 17), ten where none was.`,
	`Section 5.1 says that method 3 works on strings and method 43 on words. Method 43 works on Soundex codes; the sum of the 0 mod 25 sketch of words is 23.`,
	`Table 7 expects similar of usConstitution-BillofRights.txt and usConstitution.txt above the diagonal and medium below. Both count as hits here.`,
	`usConstitution-BillofRights.txt is said to be without the Bill of Rights and all later amendments, which leaves 4,378 words. With the first ten amendments, as here, it has 4,879, nearer to his 5,039.`,
	`Figure 3 names a method 35. Words have methods 21 to 34.`,
	`Section 6.1 speaks of the highest and lowest 200 shingles for methods 9 and 7, section 3.3 of 400.`,
	`"Similar" has a direction: the range is 30 % of the row's own index. So Tables 13, 14, 17 and 23 are not symmetric.`,
}
