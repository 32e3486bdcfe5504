using System.IO.Pipelines;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Client;

/// <summary>
/// A client of one ZooKeeper server, for import and for tests. Requests may overlap; replies come in their order. It
/// does not connect again: a session ends with its connection, or goes on by <see cref="Session"/>.
/// </summary>
internal sealed class ZooClient : IAsyncDisposable
{
    private readonly Stream _stream;
    private readonly PipeReader _input;
    private readonly JuteWriter _output = new();
    private readonly SemaphoreSlim _sending = new(1, 1);
    private readonly Queue<PendingReply> _pending = new();
    private readonly Action<ServerEvent>? _onEvent;
    private readonly CancellationTokenSource _stop = new();
    private Task _receiving = Task.CompletedTask;
    private Task _pinging = Task.CompletedTask;
    private Exception? _fault;
    private int _xid;

    private ZooClient(Stream stream, Action<ServerEvent>? onEvent)
    {
        (_stream, _onEvent) = (stream, onEvent);
        _input = PipeReader.Create(_stream);
    }

    /// <summary>Id, password and granted time-out; a later connection goes on with them.</summary>
    public ConnectResponse Session { get; private set; } = ConnectResponse.Refusal(null);

    /// <summary>Replies that have come; what an event stands behind, for those that hear of events.</summary>
    public int Replies { get; private set; }

    /// <param name="request">Null: a new session.</param>
    /// <param name="onEvent">Hears notifications, in the order of the replies.</param>
    /// <param name="tls">Null: the connection is plain.</param>
    /// <exception cref="ZooClientException">The server refuses the session, or speaks another protocol.</exception>
    /// <exception cref="SocketException">The server does not answer.</exception>
    public static async Task<ZooClient> ConnectAsync(string host, int port, ConnectRequest? request = null,
        Action<ServerEvent>? onEvent = null, SslClientAuthenticationOptions? tls = null,
        CancellationToken cancellationToken = default)
    {
        var stream = await ConnectAsync(host, port, cancellationToken).ConfigureAwait(false);
        var client = new ZooClient(
            tls is null ? stream : await EncryptAsync(stream, tls, cancellationToken).ConfigureAwait(false), onEvent);
        try
        {
            await client.ShakeHandsAsync(request ?? NewSession, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            await client.DisposeAsync().ConfigureAwait(false);
            if (e is IOException) throw new ZooClientException("The server has closed the connection.", e);
            throw;
        }

        client._receiving = LoopContext.Pool.RunAsync(client.ReceiveAsync);
        client._pinging = LoopContext.Pool.RunAsync(client.PingAsync);
        return client;
    }

    /// <summary>Sends a request and waits for its reply.</summary>
    /// <exception cref="ZooClientException">The connection has broken: the request may or may not have taken
    /// effect.</exception>
    public async Task<ServerReply> SendAsync(ClientRequest request, CancellationToken cancellationToken = default)
    {
        var pending = new PendingReply(request.Code);
        await _sending.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            lock (_pending)
            {
                if (_fault is not null) throw new ZooClientException("The connection has broken.", _fault);
                _pending.Enqueue(pending);
            }

            _output.Clear();
            RequestWriter.Write(_output, XidOf(request.Code), request);
            await _stream.WriteAsync(_output.WrittenMemory, cancellationToken).ConfigureAwait(false);
        }
        catch (IOException e)
        {
            throw new ZooClientException("The connection has broken.", e);
        }
        finally
        {
            _sending.Release();
        }

        return await pending.Reply.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Breaks the connection. The session goes on until its time-out, unless it was closed by a
    /// request.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _stream.DisposeAsync().ConfigureAwait(false);
        await _receiving.ConfigureAwait(false);
        await _pinging.ConfigureAwait(false);
        await _input.CompleteAsync().ConfigureAwait(false);
        _sending.Dispose();
        _output.Dispose();
        _stop.Dispose();
    }

    private static ConnectRequest NewSession { get; } =
        new(0, 10_000, 0, [.. new byte[ConnectResponse.PasswordSize]], ReadOnly: false);

    private static async Task<Stream> ConnectAsync(string host, int port, CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(host, port, cancellationToken).ConfigureAwait(false);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private static async Task<Stream> EncryptAsync(
        Stream plain, SslClientAuthenticationOptions tls, CancellationToken cancellationToken)
    {
        var encrypted = new SslStream(plain);
        try
        {
            await encrypted.AuthenticateAsClientAsync(tls, cancellationToken).ConfigureAwait(false);
            return encrypted;
        }
        catch (Exception e)
        {
            await encrypted.DisposeAsync().ConfigureAwait(false);
            if (e is AuthenticationException or IOException)
                throw new ZooClientException($"The handshake of TLS failed: {e.Message}", e);
            throw;
        }
    }

    private int XidOf(OpCode code) => code switch
    {
        OpCode.Ping => RequestHead.PingXid,
        OpCode.Auth => RequestHead.AuthXid,
        OpCode.SetWatches or OpCode.SetWatches2 => RequestHead.SetWatchesXid,
        _ => ++_xid,
    };

    private async Task ShakeHandsAsync(ConnectRequest request, CancellationToken cancellationToken)
    {
        request.Write(_output);
        await _stream.WriteAsync(_output.WrittenMemory, cancellationToken).ConfigureAwait(false);
        using var frame = await ReadFrameAsync(cancellationToken).ConfigureAwait(false);
        Session = ConnectResponse.Read(frame.Span) ?? throw new ZooClientException("The handshake is malformed.");
        if (Session.Timeout <= 0) throw new ZooClientException("The session has expired, or is another client's.");
    }

    private async Task ReceiveAsync()
    {
        try
        {
            while (true)
            {
                using var frame = await ReadFrameAsync(_stop.Token).ConfigureAwait(false);
                Take(frame.Span);
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or ZooClientException
            or ObjectDisposedException)
        {
            PendingReply[] left;
            lock (_pending)
            {
                _fault = e;
                left = [.. _pending];
                _pending.Clear();
            }

            foreach (var pending in left)
                pending.Reply.TrySetException(new ZooClientException("The connection has broken.", e));
        }
    }

    private void Take(ReadOnlySpan<byte> frame)
    {
        var reader = new JuteReader(frame);
        if (!ReplyReader.TryReadHead(ref reader, out var head)) throw new ZooClientException("A reply is malformed.");
        if (head.Xid == RequestHead.PingXid) return;
        if (head.Xid == RequestHead.EventXid)
        {
            _onEvent?.Invoke(ReplyReader.ReadEvent(head.Zxid, ref reader)
                ?? throw new ZooClientException("A notification is malformed."));
            return;
        }

        PendingReply? pending;
        lock (_pending)
        {
            if (!_pending.TryDequeue(out pending))
                throw new ZooClientException($"A reply with xid {head.Xid} is to no request.");
        }

        Replies++;

        if (ReplyReader.ReadBody(pending.Code, head, ref reader) is { } reply)
        {
            pending.Reply.TrySetResult(reply);
            return;
        }

        var fault = new ZooClientException($"The reply to {pending.Code} is malformed.");
        pending.Reply.TrySetException(fault);
        throw fault;
    }

    private async Task PingAsync()
    {
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(Math.Max(Session.Timeout / 3, 1)));
        try
        {
            while (await timer.WaitForNextTickAsync(_stop.Token).ConfigureAwait(false))
            {
                await _sending.WaitAsync(_stop.Token).ConfigureAwait(false);
                try
                {
                    _output.Clear();
                    RequestWriter.Write(_output, RequestHead.PingXid, new PlainRequest(OpCode.Ping));
                    await _stream.WriteAsync(_output.WrittenMemory, _stop.Token).ConfigureAwait(false);
                }
                finally
                {
                    _sending.Release();
                }
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or ObjectDisposedException)
        {
            // The receiver tells of the broken connection.
        }
    }

    private async Task<RentedFrame> ReadFrameAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            var read = await _input.ReadAsync(cancellationToken).ConfigureAwait(false);
            var input = read.Buffer;
            // A server may list more children than it would read.
            switch (Frames.Take(ref input, out var frame, maxLength: int.MaxValue))
            {
                case FrameState.Whole:
                    var whole = RentedFrame.Of(frame);
                    _input.AdvanceTo(input.Start);
                    return whole;
                case FrameState.Malformed:
                    throw new ZooClientException("A frame's length is negative.");
                case FrameState.Partial:
                    break;
            }

            _input.AdvanceTo(input.Start, input.End);
            if (read.IsCompleted) throw new ZooClientException("The server has closed the connection.");
        }
    }

    private sealed class PendingReply(OpCode code)
    {
        public OpCode Code => code;

        public TaskCompletionSource<ServerReply> Reply { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
