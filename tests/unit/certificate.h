/* certificate.h - certificates for servers of the tests. */
#pragma once

/* A key and a certificate of `localhost` for it, self-signed, in two new files whose names end in XXXXXX; it holds
 * from and until so many seconds from now. */
void certificate_make(char cert[], char key[], long from, long until);
