using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Authenticates by the certificate that the connection's handshake has checked.</summary>
internal sealed class CertificateScheme(
    IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory logger, UrlEncoder encoder)
    : AuthenticationHandler<AuthenticationSchemeOptions>(options, logger, encoder)
{
    protected override Task<AuthenticateResult> HandleAuthenticateAsync() => Task.FromResult(
        Context.Features.Get<TlsPeer>() is { } peer
            ? AuthenticateResult.Success(
                new AuthenticationTicket(CorfuClaims.UserOf(peer.Principal), Scheme.Name))
            : AuthenticateResult.NoResult());
}
