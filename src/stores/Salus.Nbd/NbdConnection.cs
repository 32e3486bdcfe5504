using System.IO.Pipelines;
using System.Net.Security;
using Salus.Nbd.Exports;
using Salus.Nbd.Handshake;
using Salus.Nbd.Limits;
using Salus.Nbd.Transmission;

namespace Salus.Nbd;

/// <summary>A client, from its first byte to its last.</summary>
internal sealed class NbdConnection
{
    private readonly string _peer;
    private readonly NbdServices _services;
    private readonly WaitClock _clock;
    private readonly CancellationTokenSource _gone;
    private readonly Lock _gate = new();

    // Guarded by _gate. A stop before the transmission cancels the handshake.
    private TransmissionLoop? _transmission;
    private bool _isStopping;
    private string? _fault;

    /// <param name="closed">The client's connection has broken.</param>
    public NbdConnection(string peer, NbdServices services, CancellationToken closed)
    {
        (_peer, _services) = (peer, services);
        _clock = new WaitClock(services.Time);
        _gone = CancellationTokenSource.CreateLinkedTokenSource(closed);
    }

    /// <summary>Cuts the client off if it is slower than it may be.</summary>
    public void Sweep()
    {
        if (_clock.FaultOf(_services.Options) is not { } fault) return;
        _fault = fault;
        Cancel();
    }

    /// <summary>Refuses new commands, and ends when none is under way.</summary>
    public void Stop()
    {
        TransmissionLoop? transmission;
        lock (_gate)
        {
            _isStopping = true;
            transmission = _transmission;
        }

        if (transmission is null) Cancel();
        else transmission.Stop();
    }

    /// <summary>Takes no more from the client and sends nothing more. Writes keep their places.</summary>
    public void Cancel()
    {
        try
        {
            _gone.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // The connection has ended.
        }
    }

    public async Task ServeAsync(IDuplexPipe transport)
    {
        var state = new HandshakeState(_services.Exports, transport);
        try
        {
            var refusal = await ShakeHandsAsync(state).ConfigureAwait(false);
            if (refusal is not null)
            {
                NbdTelemetry.Refused.Add(1);
                NbdLog.Refused(_services.Logger, _peer, refusal);
                return;
            }

            var name = state.Chosen!.Export.Name;
            NbdLog.Attached(_services.Logger, _peer, name);
            var reason = await TransmitAsync(state).ConfigureAwait(false);
            NbdLog.Detached(_services.Logger, _peer, name, _fault ?? reason);
        }
        catch (Exception e)
        {
            NbdLog.Failed(_services.Logger, _peer, e);
        }
        finally
        {
            if (state.Mounted is not null) state.Chosen!.Leave();
            await CompleteAsync(state, transport).ConfigureAwait(false);
            _gone.Dispose();
        }
    }

    private async Task<string?> ShakeHandsAsync(HandshakeState state)
    {
        var handshake = new HandshakeLoop(state, _services.Options, _services.Tls, _services.Time);
        try
        {
            return await handshake.RunAsync(_gone.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (_gone.IsCancellationRequested)
        {
            return _isStopping ? "the server stops" : e.Message;
        }
        catch (Exception e) when (e is IOException or VolumeException
            or System.Security.Authentication.AuthenticationException)
        {
            return e.Message;
        }
    }

    private async Task<string> TransmitAsync(HandshakeState state)
    {
        var (chosen, mounted) = (state.Chosen!, state.Mounted!);
        var export = new ExportView(chosen.Export.Name, mounted.Volume, mounted.Writes, state.IsStructured,
            HasAllocation: state.Allocation == chosen);
        var own = new ByteBudget(_services.Options.MaxConnectionBytes);
        var faults = new CommandFaults(_peer, export, _services.Logger);
        var transmission = new TransmissionLoop(
            export, mounted, state.Transport, _clock, own, _services.Bytes, faults, _gone);
        lock (_gate)
        {
            _transmission = transmission;
            if (_isStopping) transmission.Stop();
        }

        NbdTelemetry.Connections.Add(1);
        try
        {
            return await transmission.RunAsync().ConfigureAwait(false);
        }
        finally
        {
            NbdTelemetry.Connections.Add(-1);
        }
    }

    // Closing what is inside TLS says goodbye there first.
    private static async ValueTask CompleteAsync(HandshakeState state, IDuplexPipe transport)
    {
        try
        {
            if (state.IsEncrypted)
            {
                await state.Transport.Input.CompleteAsync().ConfigureAwait(false);
                await state.Transport.Output.CompleteAsync().ConfigureAwait(false);
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or InvalidOperationException)
        {
            // The client has gone.
        }

        await transport.Output.CompleteAsync().ConfigureAwait(false);
        await transport.Input.CompleteAsync().ConfigureAwait(false);
    }
}
