using System.Net.Sockets;
using System.Security.Authentication;

namespace Corfu.Transport;

internal sealed partial class ClientConnection
{
    private async Task ReceiveAsync()
    {
        try
        {
            var buffer = new byte[_options.ReceiveBuffer];
            var filled = 0;
            while (true)
            {
                var received = await _stream.ReceiveAsync(buffer.AsMemory(filled)).ConfigureAwait(false);
                if (received == 0)
                {
                    Close("the node closed it", null);
                    return;
                }

                filled += received;
                TransportTelemetry.Io.Add(received, TransportTelemetry.Received);
                Volatile.Write(ref _activeSweep, _transport.SweepCount);
                var used = HandleFrames(buffer.AsMemory(0, filled), out var partial);
                if (partial is { } header && MessageCodec.HeaderSize + header.BodyLength > buffer.Length)
                {
                    await ReceiveLargeAsync(header,
                        buffer.AsMemory(used + MessageCodec.HeaderSize, filled - used - MessageCodec.HeaderSize))
                        .ConfigureAwait(false);
                    used = filled;
                }

                filled -= used;
                if (filled > 0 && used > 0) buffer.AsSpan(used, filled).CopyTo(buffer);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or MalformedDataException
            or IOException or AuthenticationException)
        {
            Close(e is MalformedDataException ? e.Message : "receiving failed", e);
        }
        catch (Exception e)
        {
            // Thrown by an inlined continuation: the state is sound, but this loop ends.
            Close("a continuation threw", e);
            throw;
        }
    }

    /// <summary>Completes the call of every whole frame and returns the bytes used.</summary>
    /// <param name="partial">The header of an incomplete frame behind them, if it is there.</param>
    private int HandleFrames(ReadOnlyMemory<byte> buffer, out FrameHeader? partial)
    {
        var used = 0;
        partial = null;
        while (buffer.Length - used >= MessageCodec.HeaderSize)
        {
            var header = FrameHeader.Parse(buffer.Span[used..]);
            var total = MessageCodec.HeaderSize + header.BodyLength;
            if (buffer.Length - used < total)
            {
                partial = header;
                break;
            }

            Complete(header, buffer.Slice(used + MessageCodec.HeaderSize, header.BodyLength), owned: false);
            used += total;
        }

        return used;
    }

    /// <summary>A frame larger than the buffer: received into memory that the caller will own.</summary>
    private async ValueTask ReceiveLargeAsync(FrameHeader header, ReadOnlyMemory<byte> begun)
    {
        var body = new byte[header.BodyLength];
        begun.CopyTo(body);
        var filled = begun.Length;
        while (filled < body.Length)
        {
            var received = await _stream.ReceiveAsync(body.AsMemory(filled)).ConfigureAwait(false);
            if (received == 0) throw new MalformedDataException("The connection ended inside an answer.");
            filled += received;
            TransportTelemetry.Io.Add(received, TransportTelemetry.Received);
            Volatile.Write(ref _activeSweep, _transport.SweepCount);
        }

        Complete(header, body, owned: true);
    }

    private void Complete(FrameHeader header, ReadOnlyMemory<byte> body, bool owned)
    {
        PendingCall? call;
        bool drained;
        lock (_tableGate)
        {
            _table.Remove(header.Correlation, out call);
            drained = IsDrained;
        }

        // Cancelled, or over time.
        if (call is null) return;
        if (call.Span is { } span) TransportTelemetry.End(span, header.Status.ToString());
        if (call.Began != 0)
            TransportTelemetry.RecordCall(
                _transport.Time.GetElapsedTime(call.Began), header.Opcode, header.Status.ToString());
        try
        {
            if (!owned && body.Length > 0 && call.Request.AnswerKeepsInput()) body = body.ToArray();
            call.Complete(header, body, _version);
            if (drained) Close(Renewed, null);
        }
        catch (MalformedDataException e)
        {
            call.Fail(new TransportException($"{_address}: a damaged answer: {e.Message}", outcomeUnknown: true, e));
            throw;
        }
    }
}
