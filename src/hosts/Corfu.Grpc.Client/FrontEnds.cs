using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Corfu.Grpc.Client;

/// <summary>The front ends that a client knows. One front end serves it; when that fails, the next one does.</summary>
internal sealed class FrontEnds : IDisposable
{
    private readonly GrpcChannel[] _channels;
    private readonly LogService.LogServiceClient[] _clients;
    private int _current;

    /// <exception cref="FormatException">The string names no addresses, or a malformed one.</exception>
    public FrontEnds(string addresses, GrpcLogOptions options)
    {
        var uris = addresses.Split(',', StringSplitOptions.TrimEntries).Select(Parse).ToArray();
        _channels = Array.ConvertAll(uris, uri => NewChannel(uri, options));
        _clients = Array.ConvertAll(_channels, channel => new LogService.LogServiceClient(channel));
    }

    public int Count => _clients.Length;

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
    public void Leave(int number) =>
        Interlocked.CompareExchange(ref _current, (number + 1) % _clients.Length, number);

    public void Dispose()
    {
        foreach (var channel in _channels) channel.Dispose();
    }

    private static Uri Parse(string address) =>
        Uri.TryCreate(address, UriKind.Absolute, out var uri) && uri.Scheme is "http" or "https"
            ? uri!
            : throw new FormatException($"'{address}' is no address such as http://127.0.0.1:20001.");

    private static GrpcChannel NewChannel(Uri address, GrpcLogOptions options)
    {
        var channel = new GrpcChannelOptions
        {
            MaxReceiveMessageSize = options.MaxReceiveMessage,
            DisposeHttpClient = true,
            HttpHandler = new SocketsHttpHandler
            {
                ConnectTimeout = options.ConnectTimeout,
                KeepAlivePingDelay = options.PingTimeout,
                KeepAlivePingTimeout = options.PingTimeout,
                PooledConnectionIdleTimeout = Timeout.InfiniteTimeSpan,
                EnableMultipleHttp2Connections = true,
            },
        };
        options.ConfigureChannel?.Invoke(channel);
        return GrpcChannel.ForAddress(address, channel);
    }
}
