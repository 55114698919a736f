interface Database {
  loadExtension(path: string): unknown;
}

/** The path of the extension, as loadExtension takes it. */
export declare function getLoadablePath(): string;

/** Loads the extension into a database of better-sqlite3, or of node:sqlite opened with allowExtension: true. */
export declare function load(db: Database): void;
