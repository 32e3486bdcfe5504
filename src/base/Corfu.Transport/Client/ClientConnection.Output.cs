using System.Diagnostics;
namespace Corfu.Transport;

/// <summary>Requests of any thread collect in one buffer while the other is being sent, with one system call.</summary>
internal sealed partial class ClientConnection : IThreadPoolWorkItem
{
    private readonly Lock _outputGate = new();

    // Guarded by _outputGate; _sending belongs to the one flush that runs while _flushing.
    private FrameBuffer _filling = new(4096);
    private FrameBuffer _sending = new(4096);
    private bool _flushing;

    /// <summary>Throws with nothing sent.</summary>
    /// <param name="alone">No other request is in flight: none would join this one.</param>
    private void Send(uint correlation, Request request, in ActivityContext trace, bool alone)
    {
        lock (_outputGate)
        {
            if (_filling.Length > _options.MaxOutputBuffer)
                throw new TransportException($"{_address}: {_filling.Length} bytes wait to be sent.",
                    outcomeUnknown: false);
            MessageCodec.WriteRequest(_filling, correlation, request, _version, trace);
            if (_flushing) return;
            _flushing = true;
        }

        // A lone caller's own thread sends, for latency. Many callers fill the buffer before a pool thread runs.
        if (alone) _ = FlushAsync(once: true);
        else ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    void IThreadPoolWorkItem.Execute() => _ = FlushAsync(once: false);

    private async Task FlushAsync(bool once)
    {
        try
        {
            while (true)
            {
                lock (_outputGate)
                {
                    if (_filling.Length == 0)
                    {
                        _flushing = false;
                        return;
                    }

                    (_filling, _sending) = (_sending, _filling);
                }

                var rest = _sending.WrittenMemory;
                TransportTelemetry.Io.Add(rest.Length, TransportTelemetry.Sent);
                while (!rest.IsEmpty)
                    rest = rest[await _stream.SendAsync(rest).ConfigureAwait(false)..];
                _sending.Clear();
                if (!once) continue;
                lock (_outputGate)
                {
                    if (_filling.Length == 0)
                    {
                        _flushing = false;
                        return;
                    }
                }

                // A caller's thread sends one buffer only.
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }
        }
        catch (Exception e)
        {
            Close("sending failed", e);
        }
    }
}
