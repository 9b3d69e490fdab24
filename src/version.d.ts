/** The package's version, put in by the build. */
declare const LEADS_VERSION: string;

/** Whether this is the executable file that contains node and everything else; put in by the build. */
declare const LEADS_SINGLE_FILE: boolean;

/** Where the page of `leads inspect` is, from the file that reads it: `./inspect/` in the bundle; put in by the build. */
declare const LEADS_PAGE_FOLDER: string;
