import { arrayBody, emptyBody, invalidUtf8, malformedBody, nullBody, withoutId } from './body/bad-bodies.ts';
import { deepBodyAnswer, deepBodySurvived } from './body/deep-body.ts';
import { hugeBody } from './body/huge-body.ts';
import {
  charsetParameter,
  escapedText,
  fewFields,
  largeIntegers,
  spacedJson,
  unicodeText,
  unknownFields,
} from './body/odd-leads.ts';
import { slowBody, stalledBody } from './body/slow-body.ts';
import { emptyCredential, missingCredential } from './credential/absent-credential.ts';
import {
  caseChangedCredential,
  longerCredential,
  truncatedCredential,
} from './credential/altered-credential.ts';
import { doubledCredential, wrongCredential } from './credential/wrong-credential.ts';
import { parallelLead, repeatedLead } from './dedupe/repeated-lead.ts';
import { acknowledgementTime } from './health/acknowledgement-time.ts';
import { storedDelivery } from './delivery/stored-delivery.ts';
import { validDelivery } from './delivery/valid-delivery.ts';
import { alive } from './health/alive.ts';
import { leakedSecret, leakedSignature } from './leak/leaked-credential.ts';
import { stackTrace } from './leak/stack-trace.ts';
import type { Probe } from './check-probe.ts';
import { malformedRequest } from './protocol/malformed-request.ts';
import { chunkedBody, wrongContentType, wrongMethod } from './protocol/request-form.ts';
import { honestRetry, reusedNonce } from './replay/nonce.ts';
import { signatureOfOther, signatureOfOtherUrl, tamperedBody } from './signature/tampered-body.ts';
import { futureTime, skewedTime, staleTime } from './time/signed-time.ts';
import { certificateChain, certificateDays, certificateName } from './tls/certificate-checks.ts';
import { plainHttp } from './tls/plain-http.ts';
import { currentTls, oldTls } from './tls/protocol-versions.ts';

/** Every probe, in the order in which they are shown: group by group. */
export const probes: readonly Probe[] = [
  validDelivery,
  storedDelivery,
  missingCredential,
  emptyCredential,
  wrongCredential,
  truncatedCredential,
  longerCredential,
  caseChangedCredential,
  doubledCredential,
  tamperedBody,
  signatureOfOther,
  signatureOfOtherUrl,
  staleTime,
  futureTime,
  skewedTime,
  reusedNonce,
  honestRetry,
  repeatedLead,
  parallelLead,
  unknownFields,
  fewFields,
  largeIntegers,
  unicodeText,
  escapedText,
  spacedJson,
  charsetParameter,
  malformedBody,
  emptyBody,
  nullBody,
  arrayBody,
  withoutId,
  invalidUtf8,
  deepBodySurvived,
  deepBodyAnswer,
  hugeBody,
  slowBody,
  stalledBody,
  wrongMethod,
  wrongContentType,
  chunkedBody,
  malformedRequest,
  currentTls,
  oldTls,
  certificateChain,
  certificateName,
  certificateDays,
  plainHttp,
  leakedSecret,
  leakedSignature,
  stackTrace,
  alive,
  acknowledgementTime,
];
