package token

// IsStopWord reports whether word, in lower case, is one of the 174 English
// stop words of the Snowball project. Contractions are listed with their
// apostrophe: "can't" is a stop word, "cant" is not, and so "well" and "hell"
// stay although "we'll" and "he'll" go.
func IsStopWord(word []byte) bool {
	if len(word) > maxStopWord {
		return false
	}
	// The compiler turns this into a search by length and content that neither
	// allocates nor hashes.
	switch string(word) {
	case "a", "i", "am", "an", "as", "at", "be", "by", "do", "he", "if", "in", "is", "it", "me",
		"my", "no", "of", "on", "or", "so", "to", "up", "we", "all", "and", "any", "are", "but",
		"did", "few", "for", "had", "has", "her", "him", "his", "how", "i'd", "i'm", "its", "nor",
		"not", "off", "our", "out", "own", "she", "the", "too", "was", "who", "why", "you", "been",
		"both", "does", "down", "each", "from", "have", "he'd", "he's", "here", "hers", "i'll",
		"i've", "into", "it's", "more", "most", "once", "only", "ours", "over", "same", "some",
		"such", "than", "that", "them", "then", "they", "this", "very", "we'd", "were", "what",
		"when", "whom", "with", "your", "about", "above", "after", "again", "being", "below",
		"can't", "could", "doing", "don't", "he'll", "how's", "isn't", "let's", "other", "ought",
		"she'd", "she's", "their", "there", "these", "those", "under", "until", "we'll", "we're",
		"we've", "where", "which", "while", "who's", "why's", "won't", "would", "you'd", "yours",
		"aren't", "before", "cannot", "didn't", "during", "hadn't", "hasn't", "having", "here's",
		"itself", "myself", "shan't", "she'll", "should", "that's", "theirs", "they'd", "wasn't",
		"what's", "when's", "you'll", "you're", "you've", "against", "because", "between", "doesn't",
		"further", "haven't", "herself", "himself", "mustn't", "there's", "they'll", "they're",
		"they've", "through", "weren't", "where's", "couldn't", "wouldn't", "yourself", "ourselves",
		"shouldn't", "themselves", "yourselves":
		return true
	}
	return false
}

// maxStopWord is the length of the longest stop words, "themselves" and
// "yourselves".
const maxStopWord = 10
