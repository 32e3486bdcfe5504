using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Corfu.Grpc.Client;

/// <summary>The front ends that a client knows. One front end serves it; when that fails, the next one does.</summary>
internal sealed class FrontEnds : IDisposable
{
    private readonly ImmutableArray<Uri> _addresses;
    private readonly GrpcLogOptions _options;
    private readonly ClusterTls? _tls;
    private readonly Lock _gate = new();

    // Guarded by _gate: with those of earlier certificates, whose calls may still run.
    private readonly List<GrpcChannel> _channels = [];
    private volatile LogService.LogServiceClient[] _clients = [];
    private int _current;

    /// <exception cref="FormatException">The string names no addresses, or a malformed one.</exception>
    /// <exception cref="CertificateException">The folder of certificates cannot be used.</exception>
    public FrontEnds(string addresses, GrpcLogOptions options)
    {
        var parsed = FrontEndAddresses.Parse(addresses, options.Tls.Insecure);
        (_addresses, _options) = (parsed.All, options);
        if (_addresses.Any(static address => address.Scheme == "https")) _tls = Open(options.Tls, parsed.Certificates);
        Connect();
        if (_tls is not null) _tls.Source.Changed += OnRenewed;
    }

    public int Count => _addresses.Length;

    /// <summary>The caller's certificate was renewed: new calls go over connections that show it, and long ones are
    /// better begun again.</summary>
    public event Action? Renewed;

    /// <summary>Headers by which every call demands its cluster, once that is known: a position means nothing in
    /// another one.</summary>
    public Metadata Headers { get; } = [];

    /// <summary>The front end in use and its number.</summary>
    public (LogService.LogServiceClient Client, int Number) Current
    {
        get
        {
            var number = Volatile.Read(ref _current);
            return (_clients[number], number);
        }
    }

    /// <summary>Goes on to the next one, if this one is still in use.</summary>
    public void Leave(int number) => Interlocked.CompareExchange(ref _current, (number + 1) % Count, number);

    public void Dispose()
    {
        if (_tls is not null) _tls.Source.Changed -= OnRenewed;
        lock (_gate)
        {
            foreach (var channel in _channels) channel.Dispose();
        }

        _tls?.Dispose();
    }

    private static ClusterTls? Open(TlsOptions options, string? folder) => ClusterTls.Open(options with
    {
        Folder = options.Folder ?? folder ?? Environment.GetEnvironmentVariable(CertificateFolder.Variable),
    });

    private void OnRenewed()
    {
        Connect();
        Renewed?.Invoke();
    }

    private void Connect()
    {
        lock (_gate)
        {
            GrpcChannel[] channels = [.. _addresses.Select(NewChannel)];
            _channels.AddRange(channels);
            _clients = Array.ConvertAll(channels, static channel => new LogService.LogServiceClient(channel));
        }
    }

    private GrpcChannel NewChannel(Uri address)
    {
        var handler = _tls is { } tls && address.Scheme == "https"
            ? FrontEndHandler.Create(tls)
            : new SocketsHttpHandler { EnableMultipleHttp2Connections = true };
        handler.ConnectTimeout = _options.ConnectTimeout;
        handler.KeepAlivePingDelay = _options.PingTimeout;
        handler.KeepAlivePingTimeout = _options.PingTimeout;
        handler.PooledConnectionIdleTimeout = Timeout.InfiniteTimeSpan;
        var channel = new GrpcChannelOptions
        {
            MaxReceiveMessageSize = _options.MaxReceiveMessage,
            DisposeHttpClient = true,
            HttpHandler = handler,
        };
        _options.ConfigureChannel?.Invoke(channel);
        return GrpcChannel.ForAddress(address, channel);
    }
}
