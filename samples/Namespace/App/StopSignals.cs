using System.Runtime.InteropServices;

namespace NamespaceSample.App;

/// <summary>Turns Ctrl-C and a polite kill into cancellation. A second one ends the process at once.</summary>
internal sealed class StopSignals : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly PosixSignalRegistration[] _registrations;

    public StopSignals() => _registrations =
    [
        PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal),
        PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal),
    ];

    public CancellationToken Token => _stop.Token;

    public void Dispose()
    {
        foreach (PosixSignalRegistration registration in _registrations) registration.Dispose();
        _stop.Dispose();
    }

    private void OnSignal(PosixSignalContext context)
    {
        if (_stop.IsCancellationRequested) return;
        context.Cancel = true;
        _stop.Cancel();
    }
}
