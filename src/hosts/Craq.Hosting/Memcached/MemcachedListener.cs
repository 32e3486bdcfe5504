using System.Buffers;
using Corfu.Server;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Craq.Hosting.Memcached;

/// <summary>A listener for clients of memcached's text and binary protocol.</summary>
internal sealed class MemcachedListener : IAsyncDisposable
{
    private readonly MemcachedStore _store;
    private readonly MemcachedCounters _counters;
    private readonly MemcachedOptions _options;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();
    private CorfuListener? _listener;
    private int _connections;

    private MemcachedListener(
        MemcachedOptions options, MemcachedStore store, MemcachedCounters counters, ILogger logger)
    {
        _options = options;
        _store = store;
        _counters = counters;
        _logger = logger;
    }

    /// <param name="objects">As the listener reads them.</param>
    /// <exception cref="ListenException">The port is occupied.</exception>
    public static async Task<MemcachedListener> StartAsync(MemcachedOptions options,
        ObjectStore objects, ILoggerFactory loggers, TimeProvider time, CancellationToken cancellationToken)
    {
        var logger = loggers.CreateLogger<MemcachedListener>();
        var counters = new MemcachedCounters(options.ToString(), time);
        var store = new MemcachedStore(objects, counters, time, logger);
        var listener = new MemcachedListener(options, store, counters, logger);
        try
        {
            listener._listener = await CorfuListener.StartAsync(
                options.EndPoint, listen => listen.Run(listener.ServeAsync), loggers, cancellationToken);
            MemcachedLog.Serving(logger, options.Listen, options.Keyspace, options.Mode);
            return listener;
        }
        catch
        {
            await listener.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        // Connections end, so that stopping the server waits for none.
        _stop.Cancel();
        if (_listener is not null) await _listener.DisposeAsync();
        _store.Dispose();
        _stop.Dispose();
    }

    private async Task ServeAsync(ConnectionContext connection)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token, connection.ConnectionClosed);
        _counters.Opened();
        try
        {
            if (Interlocked.Increment(ref _connections) > _options.MaxConnections)
            {
                connection.Transport.Output.Line("ERROR Too many open connections");
                await connection.Transport.Output.FlushAsync(end.Token);
                return;
            }

            await ServeAsync(connection, end.Token);
        }
        catch (Exception e) when (e is OperationCanceledException or IOException)
        {
            // The client has gone, or the node goes.
        }
        catch (Exception e)
        {
            MemcachedLog.Failed(_logger, e);
        }
        finally
        {
            Interlocked.Decrement(ref _connections);
            _counters.Closed();
            await connection.Transport.Output.CompleteAsync();
            await connection.Transport.Input.CompleteAsync();
        }
    }

    // Answers to commands that came together leave together.
    private async Task ServeAsync(ConnectionContext connection, CancellationToken cancellationToken)
    {
        var (input, output) = (connection.Transport.Input, connection.Transport.Output);
        IMemcachedSession? session = null;
        while (true)
        {
            var read = await input.ReadAsync(cancellationToken);
            var buffer = read.Buffer;
            session ??= SessionOf(buffer);
            while (session?.TryRead(ref buffer) == true)
            {
                if (!await session.ExecuteAsync(output, cancellationToken))
                {
                    await output.FlushAsync(cancellationToken);
                    return;
                }

                if (output.UnflushedBytes > _options.MaxValue) await output.FlushAsync(cancellationToken);
            }

            input.AdvanceTo(buffer.Start, buffer.End);
            var flushed = await output.FlushAsync(cancellationToken);
            if (read.IsCompleted || flushed.IsCompleted) return;
        }
    }

    // The first byte of a connection tells its protocol, as in memcached. Null: the byte has not come.
    private IMemcachedSession? SessionOf(ReadOnlySequence<byte> buffer)
    {
        if (!new SequenceReader<byte>(buffer).TryPeek(out var first)) return null;
        return first == BinaryHeader.Request
            ? new BinarySession(_store, _options.MaxValue)
            : new TextSession(_store, _options.MaxValue);
    }
}
