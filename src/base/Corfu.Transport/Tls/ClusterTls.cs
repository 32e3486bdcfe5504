using System.Collections.Immutable;
using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Transport;

/// <summary>TLS of one process: its certificate, and the rules for the certificates of its peers. Servers and clients
/// of the process share it.</summary>
public sealed class ClusterTls : IDisposable
{
    /// <summary>ALPN of the cluster's port, so that no other protocol is spoken into it.</summary>
    public static readonly SslApplicationProtocol Protocol = new("corfu/2");

    private readonly TlsOptions _options;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly IDisposable? _owned;
    private volatile IDenyList? _denied;

    /// <param name="source">Stays the caller's.</param>
    public ClusterTls(ICertificateSource source, TlsMode mode = TlsMode.Required, TlsOptions? options = null,
        TimeProvider? time = null, ILogger? logger = null)
        : this(source, null, mode, options ?? new TlsOptions(), time, logger)
    {
    }

    private ClusterTls(ICertificateSource source, IDisposable? owned, TlsMode mode, TlsOptions options,
        TimeProvider? time, ILogger? logger)
    {
        options.Validate();
        Source = source;
        Mode = mode;
        _owned = owned;
        _options = options;
        _time = time ?? TimeProvider.System;
        _logger = logger ?? NullLogger.Instance;
        source.Changed += OnChanged;
    }

    /// <summary>The certificate, its anchors or the deny list changed: open connections are checked again. Raised on
    /// any thread.</summary>
    public event Action? Changed;

    public ICertificateSource Source { get; }

    /// <summary>With <see cref="TlsMode.Both"/> a node accepts both kinds of connections, and tries TLS first where it
    /// connects.</summary>
    public TlsMode Mode { get; }

    /// <summary>This process's own identity.</summary>
    public CertificateIdentity Identity => Source.Current.Identity;

    /// <summary>With the source of the options, or else their folder, which it owns.</summary>
    /// <returns>Null where the options name neither.</returns>
    /// <exception cref="CertificateException">The folder's certificates cannot be used.</exception>
    public static ClusterTls? Open(TlsOptions options, TlsMode mode = TlsMode.Required, TimeProvider? time = null,
        ILogger? logger = null)
    {
        options.Validate();
        if (options.Source is { } source) return new ClusterTls(source, null, mode, options, time, logger);
        if (options.Folder is not { Length: > 0 } path) return null;
        var folder = CertificateFolder.Open(path, options, time, logger);
        return new ClusterTls(folder, folder, mode, options, time, logger);
    }

    /// <summary>Peers on this list are refused from now on.</summary>
    public void Deny(IDenyList denied)
    {
        _denied = denied;
        denied.Changed += OnChanged;
        OnChanged();
    }

    /// <summary>Looks at the files of a folder now, as a signal asks for.</summary>
    public bool Reload() => (Source as CertificateFolder)?.Reload() == true;

    /// <summary>Checks a peer's certificate: chain to the anchors, times, key, identity, cluster, role and deny
    /// list.</summary>
    /// <param name="certificate">Null: the peer sent none.</param>
    /// <param name="sent">Further certificates that the peer sent.</param>
    /// <param name="server">The peer is the server, and must be a node.</param>
    public PeerVerdict Verify(X509Certificate2? certificate, X509Certificate2Collection sent, bool server)
    {
        try
        {
            return Judge(certificate, sent, server);
        }
        catch (Exception e)
        {
            // A stranger chose the bytes: an error in reading them refuses the peer, and is no fault of this process.
            return Refused($"the certificate is damaged: {e.Message}");
        }
    }

    private PeerVerdict Judge(X509Certificate2? certificate, X509Certificate2Collection sent, bool server)
    {
        if (certificate is null)
        {
            return Refused("it sent no certificate; give it a folder with one ('?certs=DIR' in the connection string, "
                + $"or {CertificateFolder.Variable})");
        }

        var mine = Source.Current;
        var now = _time.GetUtcNow();
        if (PeerRules.FaultOfChain(certificate, sent, mine.Anchors, now, server) is { } fault) return Refused(fault);
        if (PeerRules.IdentityOf(certificate, _options.Map, mine.Identity.Cluster, out var reason) is not { } identity)
            return Refused(reason);
        if (identity.Cluster != mine.Identity.Cluster)
        {
            return Refused($"the certificate is for cluster {identity.Cluster}, and this is {mine.Identity.Cluster}; "
                + "use the folder of the right cluster");
        }

        if (server && identity.Role != AccessRole.Node)
            return Refused($"the certificate is for {identity}, and a server must be a node");
        if (PeerRules.FaultOfTime(certificate, identity.Role, now, _options.ExpiredNodeGrace) is { } late)
            return Refused(late);
        var serial = certificate.SerialNumber;
        var issuerKey = TlsPeer.IssuerKeyOf(certificate);
        if (_denied?.IsDenied(serial, issuerKey) == true) return Refused(Denied(serial));
        var end = new DateTimeOffset(certificate.NotAfter.ToUniversalTime());
        if (end < now) TransportLog.ExpiredNode(_logger, identity.ToString(), end);
        var principal = new Principal(identity.Role, identity.Name)
        {
            Serial = serial,
            Hosts = identity.Role == AccessRole.Node ? CertificateIdentity.PlacesOf(certificate) : [],
        };
        return new PeerVerdict(
            new TlsPeer(principal, identity.Cluster, serial, issuerKey, end)
            {
                Sent = [certificate.RawData, .. sent.Select(static other => other.RawData)],
                Anchors = mine.Anchors,
                IsServer = server,
            },
            null);
    }

    /// <summary>Why an open connection to a peer must end now; null while it may stay. Connections of nodes are not cut
    /// because their certificate ends.</summary>
    public string? FaultOf(TlsPeer peer)
    {
        if (_denied?.IsDenied(peer.Serial, peer.IssuerKey) == true) return Denied(peer.Serial);
        if (peer.Principal.Role != AccessRole.Node && peer.NotAfter < _time.GetUtcNow())
            return "its certificate has ended; renew it with 'corfu cert renew'";
        var anchors = Source.Current.Anchors;
        if (ReferenceEquals(peer.Anchors, anchors) || peer.Sent.IsEmpty) return null;
        var sent = new X509Certificate2Collection();
        foreach (var data in peer.Sent) sent.Add(X509CertificateLoader.LoadCertificate(data));
        var fault = PeerRules.FaultOfChain(sent[0], sent, anchors, _time.GetUtcNow(), peer.IsServer);
        if (fault is null) peer.Anchors = anchors;
        foreach (var certificate in sent) certificate.Dispose();
        return fault;
    }

    /// <summary>Options of a handshake at the server's side of the cluster's port. A refused peer finishes the
    /// handshake, so that the answer in the cluster's protocol can give it the reason; nothing else is sent to
    /// it.</summary>
    public SslServerAuthenticationOptions ClusterServer(Action<PeerVerdict> judged)
    {
        var options = Server(SslProtocols.Tls13, verdict =>
        {
            judged(verdict);
            return true;
        });
        options.ApplicationProtocols = [Protocol];
        options.ClientCertificateRequired = true;
        return options;
    }

    /// <summary>Options of a handshake at the server's side of an HTTP port. A peer with a bad certificate is refused
    /// by TLS itself.</summary>
    /// <param name="required">A peer without a certificate is refused, too.</param>
    public SslServerAuthenticationOptions HttpServer(bool required, Action<TlsPeer> accepted)
    {
        var options = Server(SslProtocols.Tls12 | SslProtocols.Tls13, verdict =>
        {
            if (verdict.Peer is { } peer) accepted(peer);
            return verdict.Peer is not null || (!required && verdict.Reason is null);
        });
        options.ApplicationProtocols = [SslApplicationProtocol.Http2, SslApplicationProtocol.Http11];
        options.ClientCertificateRequired = true;
        return options;
    }

    /// <summary>Options of a handshake at the client's side.</summary>
    /// <param name="host">Sent as the name of the server, and not compared: addresses in projections move, and a node
    /// is trusted as a node.</param>
    internal SslClientAuthenticationOptions Client(string host, TlsCredentials credentials,
        Action<PeerVerdict> judged) => new()
        {
            TargetHost = host,
            ApplicationProtocols = [Protocol],
            EnabledSslProtocols = SslProtocols.Tls13,
            AllowTlsResume = false,
            AllowRenegotiation = false,
            ClientCertificateContext = credentials.Context,
            CertificateChainPolicy = PeerRules.Policy(credentials.Anchors, _time.GetUtcNow(), server: true),
            RemoteCertificateValidationCallback = (_, certificate, chain, _) =>
            {
                var verdict = Verify(certificate as X509Certificate2, Sent(chain), server: true);
                judged(verdict);
                return verdict.Peer is not null;
            },
        };

    /// <summary>Options of a handshake at the client's side of an HTTP port.</summary>
    /// <param name="host">Sent as the name of the server, and not compared.</param>
    /// <param name="judged">Hears why a server is refused.</param>
    public SslClientAuthenticationOptions HttpClient(string host, Action<PeerVerdict> judged)
    {
        var options = Client(host, Source.Current, judged);
        options.ApplicationProtocols = [SslApplicationProtocol.Http2, SslApplicationProtocol.Http11];
        options.EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13;
        return options;
    }

    public void Dispose()
    {
        Source.Changed -= OnChanged;
        if (_denied is { } denied) denied.Changed -= OnChanged;
        _owned?.Dispose();
    }

    private SslServerAuthenticationOptions Server(SslProtocols protocols, Func<PeerVerdict, bool> judged) => new()
    {
        ServerCertificateContext = Source.Current.Context,
        EnabledSslProtocols = protocols,

        // A resumed session checks no certificate again, so that a revoked one would live on.
        AllowTlsResume = false,
        AllowRenegotiation = false,
        CertificateChainPolicy = PeerRules.Policy(Source.Current.Anchors, _time.GetUtcNow(), server: false),
        RemoteCertificateValidationCallback = (_, certificate, chain, _) =>
            judged(certificate is null && protocols != SslProtocols.Tls13
                ? default
                : Verify(certificate as X509Certificate2, Sent(chain), server: false)),
    };

    private static X509Certificate2Collection Sent(X509Chain? chain) => chain?.ChainPolicy.ExtraStore ?? [];

    private static PeerVerdict Refused(string reason) => new(null, reason);

    private static string Denied(string serial) =>
        $"the certificate {serial} is revoked (on the deny list); issue a new one";

    private void OnChanged() => Changed?.Invoke();
}
