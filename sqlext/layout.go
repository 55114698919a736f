package sqlext

import "github.com/alike-sql/alike/sketch/aspect"

// How the features of the rows are kept so that equal ones are found: this file, and
// sql/columns.sql.

// Features are the columns of the side table with a feature each.
func (a *attachment) Features() []string {
	list := make([]string, a.profile.K)
	for i := range list {
		list[i] = aspect.FeatureColumn(i)
	}
	return list
}

// indexed are the columns that have an index each once the rows are filled in.
func (a *attachment) indexed() []string { return append(a.Features(), a.Indexes()...) }

// Union is a SELECT for each feature, made by the template arm, and the further ones.
func (f fragments) Union(arm string, further ...string) string {
	var arms []string
	for i, column := range f.Features() {
		f.Item, f.Number = column, i+1
		arms = append(arms, f.sql(arm))
	}
	for _, name := range further {
		arms = append(arms, f.sql(name))
	}
	return compound(arms)
}

// SharedFeatures counts the features that two rows have in common.
func (f fragments) SharedFeatures(p, q string) string {
	list := f.Features()
	for i, column := range list {
		list[i] = "ifnull(" + p + "." + column + " = " + q + "." + column + ", 0)"
	}
	return balanced(" + ", list)
}
