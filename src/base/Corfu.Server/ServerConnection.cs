using System.Buffers;
using System.Diagnostics;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;

namespace Corfu.Server;

/// <summary>An accepted connection: handshake, then frames in, answers out
/// (<c>ServerConnection.Output.cs</c>).</summary>
internal sealed partial class ServerConnection : IReplySink
{
    private readonly RoleRegistry _registry;
    private readonly ConnectionContext _context;

    // Replaced by the sweep when the operator changes limits.
    private volatile ServerTransportOptions _options;
    private readonly PipeReader _input;
    private readonly PipeWriter _output;
    private readonly TlsSession? _tls;

    // Written by the read loop, read by the sweep: a late view shifts a time limit by one sweep.
    private volatile bool _isServing;
    private long _lastReceived;
    private long _partialSince;

    // Settled by the handshake.
    private ushort _version;
    private NodeRole _role;
    private volatile RequestSpans? _spans;

    // Rented to reassemble a frame that crosses the pipe's segments, until the batch is handled; no request outlives
    // its handler call.
    private byte[]? _scratch;

    public ServerConnection(RoleRegistry registry, ConnectionContext context)
    {
        _registry = registry;
        _context = context;
        _options = registry.Options;
        _input = context.Transport.Input;
        _output = context.Transport.Output;
        _lastReceived = registry.Time.GetTimestamp();
        _tls = context.Features.Get<TlsSession>();
        Principal = context.Features.Get<Principal>() ?? Principal.OfPlain(AddressOf(context));
    }

    /// <summary>The peer of the certificate; a handshake may have lowered its role.</summary>
    public Principal Principal { get; private set; }

    /// <summary>Requests taken, for people: a reader on another thread may see an older number.</summary>
    public long Requests { get; private set; }

    /// <summary>Bytes of the requests taken.</summary>
    public long Received { get; private set; }

    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>The identity that the handshake bound this connection to. Guarded by the registry's gate.</summary>
    public NodeId Target { get; set; }

    private static string AddressOf(ConnectionContext context) =>
        KnownAddresses.AddressOf(context)?.ToString() ?? PeerOf(context);

    public static string PeerOf(ConnectionContext context) => context.RemoteEndPoint?.ToString() ?? "unknown";

    public async Task RunAsync()
    {
        // Kestrel asks for a graceful close at shutdown.
        var closing = _context.Features.Get<IConnectionLifetimeNotificationFeature>()?.ConnectionClosedRequested
            ?? default;
        using var registration = closing.UnsafeRegister(static input => ((PipeReader)input!).CancelPendingRead(),
            _input);
        try
        {
            if (await HandshakeAsync().ConfigureAwait(false) is not { } handler) return;
            _role = handler.Role;
            _isServing = true;
            await ReceiveAsync(handler).ConfigureAwait(false);
        }
        catch (MalformedDataException e)
        {
            Drop("damaged frame", e.Message);
        }
        catch (Exception e)
            when (e is IOException or ConnectionAbortedException or ConnectionResetException
                or OperationCanceledException)
        {
            // The peer is gone, or Drop has logged the reason.
            if (_tls is { Refusal: null } && _version == 0 && e is IOException && !Volatile.Read(ref _ended))
                RecordDistrust();
        }
        finally
        {
            CloseOutput();
            _spans?.EndAll();
            await EndFlushAsync().ConfigureAwait(false);
            await _input.CompleteAsync().ConfigureAwait(false);
            await _output.CompleteAsync().ConfigureAwait(false);
            Leave();
        }
    }

    /// <summary>A peer that does not trust this node's certificate ends the connection after this side has finished the
    /// TLS handshake, and tells no reason: .NET sends no alert then.</summary>
    private void RecordDistrust()
    {
        ServerTelemetry.Refused.Add(1, ServerTelemetry.Reason("TLS handshake"));
        _registry.LogRefused(_context, "it left after the TLS handshake, as a peer does that refuses this node's "
            + "certificate; the peer's log has the reason, and 'corfu cert show' tells what is wrong");
    }

    private async ValueTask<IRoleHandler?> HandshakeAsync()
    {
        IRoleHandler? handler = null;
        var read = await _input.ReadAtLeastAsync(Hello.Size).ConfigureAwait(false);
        if (read.Buffer.Length < Hello.Size)
        {
            // A peer that connects and leaves (a port check) is no fault.
            if (read.IsCanceled) return null;
            if (!read.Buffer.IsEmpty) Drop("damaged frame", "The connection ended inside the handshake.");
            else if (_tls is { Refusal: null }) RecordDistrust();
            return null;
        }

        var hello = ReadHello(read.Buffer);
        _input.AdvanceTo(read.Buffer.GetPosition(Hello.Size));
        var version = _options.Protocol.Settle(hello.LowestVersion, hello.HighestVersion);
        _version = version ?? _options.Protocol.Highest;
        var (status, reason) = version is null ? (Status.Unsupported, "protocol version") : Judge(hello, out handler);
        var welcome = new Welcome(_version, status,
            _tls?.Refusal is null ? _registry.Describe() : new NodeDescription(ClusterId.None, []));
        if (status == Status.Denied) welcome = welcome with { Reason = reason };
        await _output.WriteAsync(welcome.Encode()).ConfigureAwait(false);
        if (status == Status.Ok) return handler;
        if (_tls?.Refusal is not null) return null;
        ServerTelemetry.Refused.Add(1, ServerTelemetry.Reason(reason));
        _registry.LogRefused(_context, reason);
        return null;
    }

    private static Hello ReadHello(in ReadOnlySequence<byte> buffer)
    {
        Span<byte> bytes = stackalloc byte[Hello.Size];
        buffer.Slice(0, Hello.Size).CopyTo(bytes);
        return Hello.Read(bytes);
    }

    private (Status Status, string Reason) Judge(Hello hello, out IRoleHandler? handler)
    {
        handler = null;

        // TLS has logged and counted its own refusals.
        if (_tls?.Refusal is { } refusal) return (Status.Denied, refusal);
        if (NoPlace is { } full) return (Status.Overloaded, full);
        if (Principal.Role <= AccessRole.Caller)
            return (Status.Denied, "a caller's certificate opens nothing at the cluster's port");

        // Only discovery may leave the cluster out.
        if (hello.Cluster != _registry.Cluster && !(hello.Cluster.IsNone && hello.Target.IsNone))
            return (Status.WrongNode, "another cluster");
        if (hello.Role != AccessRole.None && hello.Role < Principal.Role)
            Principal = Principal with { Role = hello.Role };
        if (hello.Target.IsNone) return (Status.Ok, string.Empty);
        handler = _registry.Bind(this, hello.Target);
        if (handler is null) return (Status.WrongNode, "another identity");
        _share = _registry.Book.Bind(this, handler);
        return _share is null ? (Status.Overloaded, Refusals.IdentityConnections) : (Status.Ok, string.Empty);
    }

    private async Task ReceiveAsync(IRoleHandler handler)
    {
        while (true)
        {
            var read = await _input.ReadAsync().ConfigureAwait(false);
            if (read.IsCanceled) return;
            var now = _registry.Time.GetTimestamp();
            Volatile.Write(ref _lastReceived, now);
            var buffer = read.Buffer;
            var arrived = buffer.Length;
            var full = HandleFrames(handler, ref buffer, out var handled);
            Requests += handled;
            var taken = arrived - buffer.Length;
            Received += taken;
            if (handled > 0) ReturnFrame();
            if (handled > 0) ServerTelemetry.Io.Add(taken, ServerTelemetry.Received);
            if (!full && read.IsCompleted)
            {
                if (!buffer.IsEmpty) Drop("damaged frame", "The connection ended inside a frame.");
                return;
            }

            if (!full && TakeFrame(buffer) is { } noMemory)
            {
                // Bytes that are not examined stop the peer.
                Volatile.Write(ref _partialSince, 0);
                _input.AdvanceTo(buffer.Start, buffer.Start);
                if (!await WaitForFrameAsync(noMemory).ConfigureAwait(false)) return;
                continue;
            }

            // The time-out counts from the frame's own first byte. Behind a handled frame it counts from the end of
            // the handling: this side has read no byte meanwhile. Without room it does not read either.
            if (full || buffer.IsEmpty) Volatile.Write(ref _partialSince, 0);
            else if (handled > 0) Volatile.Write(ref _partialSince, _registry.Time.GetTimestamp());
            else if (_partialSince == 0) Volatile.Write(ref _partialSince, now);

            // Bytes left for want of room are not examined yet; an incomplete frame is.
            _input.AdvanceTo(buffer.Start, full ? buffer.Start : buffer.End);
            if (WaitForRoom() is { } room) await room.ConfigureAwait(false);
            else if (full || IsTurnOver(handled)) await Task.Yield();
            if (PauseAfter(handled, taken) is { Ticks: > 0 } pause) await PauseAsync(pause).ConfigureAwait(false);
            if (Volatile.Read(ref _ended)) return;
        }
    }

    /// <summary>Hands every complete frame over; true when it stopped for want of room instead of at the end.</summary>
    private bool HandleFrames(IRoleHandler handler, ref ReadOnlySequence<byte> buffer, out int handled)
    {
        handled = 0;
        BeginBatch();
        Cork();
        try
        {
            var first = buffer.First;
            var used = 0;
            while (true)
            {
                if (handled >= Turn || !HasRoom() || Volatile.Read(ref _ended))
                {
                    buffer = buffer.Slice(used);
                    return true;
                }

                var rest = first.Length - used;
                if (rest >= MessageCodec.HeaderSize)
                {
                    var header = FrameHeader.Parse(first.Span[used..]);
                    var total = MessageCodec.HeaderSize + header.BodyLength;
                    if (rest >= total)
                    {
                        EndPartialFrame();
                        Dispatch(handler, header, first.Slice(used + MessageCodec.HeaderSize, header.BodyLength));
                        used += total;
                        handled++;
                        continue;
                    }
                }

                buffer = buffer.Slice(used);
                if (!TryTakeAcrossSegments(ref buffer, out var crossing, out var body)) return false;
                EndPartialFrame();
                Dispatch(handler, crossing, body);
                handled++;
                first = buffer.First;
                used = 0;
            }
        }
        finally
        {
            if (handled > 0) handler.BatchEnd();
            EndBatch(handled);
            ReturnScratch();
            if (EndCork()) Flush();
        }
    }

    /// <summary>Before the frame's handling: how long a handler takes is not the peer's delay.</summary>
    private void EndPartialFrame()
    {
        if (_partialSince != 0) Volatile.Write(ref _partialSince, 0);
    }

    private bool TryTakeAcrossSegments(ref ReadOnlySequence<byte> buffer, out FrameHeader header,
        out ReadOnlyMemory<byte> body)
    {
        header = default;
        body = default;
        if (buffer.Length < MessageCodec.HeaderSize) return false;
        Span<byte> bytes = stackalloc byte[MessageCodec.HeaderSize];
        buffer.Slice(0, MessageCodec.HeaderSize).CopyTo(bytes);
        header = FrameHeader.Parse(bytes);
        var total = MessageCodec.HeaderSize + header.BodyLength;
        if (buffer.Length < total) return false;
        var slice = buffer.Slice(MessageCodec.HeaderSize, header.BodyLength);
        body = slice.IsSingleSegment ? slice.First : CopyToScratch(slice);
        buffer = buffer.Slice(total);
        return true;
    }

    private ReadOnlyMemory<byte> CopyToScratch(in ReadOnlySequence<byte> slice)
    {
        var length = (int)slice.Length;
        if (_scratch is null || _scratch.Length < length)
        {
            ReturnScratch();
            _scratch = _options.Scratch.Rent(length);
        }

        slice.CopyTo(_scratch);
        return _scratch.AsMemory(0, length);
    }

    private void ReturnScratch()
    {
        if (_scratch is null) return;
        _options.Scratch.Return(_scratch);
        _scratch = null;
    }

    private void Dispatch(IRoleHandler handler, FrameHeader header, ReadOnlyMemory<byte> body)
    {
        var isTraced = header.HasTrace && _version >= WireProtocol.Traces;
        var caller = isTraced ? MessageCodec.TakeTrace(header, ref body) : default;
        // Before anything of the body is built: a peer must not cost more than it may.
        var verdict = _registry.Requests.Judge(header.Opcode, Principal.Role);
        var request = verdict == AccessVerdict.Denied
            ? null
            : MessageCodec.ReadRequest(header, body, _registry.Requests, _version);
        Interlocked.Increment(ref _inFlight);
        if (request is null)
        {
            // Unsupported: a later version's opcode, and the caller does without.
            var status = verdict == AccessVerdict.Denied ? Status.Denied : Status.Unsupported;
            if (status == Status.Denied) _registry.RecordDenial(Principal, header.Opcode);
            Send(header.Correlation, header.Opcode, new AckResponse(status, Epoch.None));
            return;
        }

        if (verdict == AccessVerdict.Gated)
        {
            var judged = _registry.Gate?.Judge(request) ?? Status.Denied;
            if (judged == Status.Denied) _registry.RecordDenial(Principal, header.Opcode);
            if (judged != Status.Ok)
            {
                Send(header.Correlation, header.Opcode, request.Fail(judged, Epoch.None));
                return;
            }
        }

        var span = isTraced
            ? (_spans ??= new RequestSpans()).Begin(header.Correlation, header.Opcode, caller)
            : null;
        try
        {
            handler.Handle(request, new ReplyTo(this, header.Correlation, header.Opcode, _lastReceived));
        }
        catch (Exception e) when (e is not MalformedDataException)
        {
            // Whether the handler will answer is unknown now, so the connection ends.
            ServerLog.HandlerFailed(_registry.Logger, e, _context.ConnectionId);
            throw new MalformedDataException($"The handler failed: {e.Message}");
        }
        finally
        {
            if (span is not null) Activity.Current = null;
        }
    }

    /// <summary>Ends the connection if it is over a time limit.</summary>
    public void CheckLimits(long now)
    {
        _options = _registry.Options;
        var sinceReceived = Elapsed(Volatile.Read(ref _lastReceived), now);
        if (!_isServing)
        {
            if (sinceReceived > _options.HandshakeTimeout) Drop("handshake time-out", null);
            return;
        }

        var partial = Volatile.Read(ref _partialSince);
        var blocked = Volatile.Read(ref _blockedSince);
        if (partial != 0 && Elapsed(partial, now) > _options.FrameTimeout) Drop("frame time-out", null);
        else if (blocked != 0 && Elapsed(blocked, now) > _options.WriteTimeout)
            Drop(SlowReader, "It took no answers in time.");
        else if (sinceReceived > _options.IdleTimeout && Volatile.Read(ref _inFlight) == 0) Drop("idle", null);
    }

    /// <summary>Ends the connection from any thread; the read loop notices.</summary>
    public void Drop(string reason, string? detail)
    {
        if (!CloseOutput()) return;
        ServerTelemetry.Dropped.Add(1, ServerTelemetry.Reason(reason));
        if (reason is not ("idle" or "shutdown" or "role removed"))
            _registry.LogDropped(_context, reason, detail);
        // Not within the call, whose thread may hold the lock of a role: the connection's end goes on there.
        ThreadPool.UnsafeQueueUserWorkItem(
            static end => end.Connection.Abort(end.Reason), (Connection: this, Reason: reason), preferLocal: false);
    }

    private void Abort(string reason)
    {
        _context.Abort(new ConnectionAbortedException(reason));
        _input.CancelPendingRead();
    }

    private TimeSpan Elapsed(long since, long now) => _registry.Time.GetElapsedTime(since, now);
}
