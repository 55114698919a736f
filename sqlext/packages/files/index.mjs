import module from "./index.cjs";

export const { getLoadablePath, load } = module;
