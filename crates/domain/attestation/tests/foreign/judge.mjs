// Judges envelopes as a client of Sigstore that is given a key and no log, and prints each verdict as JSON.
// Called with the folder, whose `cases.json` is a list of cases; the folder of the packages is AMBIT_JUDGES_NODE.

import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const packages = createRequire(pathToFileURL(`${process.env.AMBIT_JUDGES_NODE}/`));
const { bundleFromJSON } = packages("@sigstore/bundle");
const { Verifier, toSignedEntity, toTrustMaterial } = packages("@sigstore/verify");

const folder = process.argv[2];
const text = (name) => readFileSync(join(folder, name), "utf8");
const nothing = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
const verdicts = {};

for (const { name, file, hint, keys } of JSON.parse(text("cases.json"))) {
  try {
    const known = Object.fromEntries(keys.map(({ id, pem }) => [
      id,
      { publicKey: createPublicKey(pem), validFor: () => true },
    ]));
    const bundle = bundleFromJSON({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: { publicKey: { hint }, tlogEntries: [] },
      dsseEnvelope: JSON.parse(text(file)),
    });
    const trusted = toTrustMaterial(nothing, (wanted) => {
      if (!known[wanted]) throw Object.assign(new Error(`no key ${wanted}`), { code: "NO_KEY" });
      return known[wanted];
    });
    const asked = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 };
    new Verifier(trusted, asked).verify(toSignedEntity(bundle));
    verdicts[name] = "accepted";
  } catch (refusal) {
    verdicts[name] = `${refusal.code ?? refusal.name}: ${[refusal.message, ...(refusal.fields ?? [])].join(" ")}`;
  }
}
console.log(JSON.stringify(verdicts));
