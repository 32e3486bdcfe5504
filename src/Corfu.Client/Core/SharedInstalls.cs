using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Everybody who meets a unit that has not heard of the epoch brings it the projection (R14), but not all at once: it is sent once, and all wait for that.</summary>
internal sealed class SharedInstalls(ClientCore core)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. The last one of each unit, running or not; there are never many units.
    private readonly Dictionary<NodeAddress, (Epoch Epoch, Task<AckResponse> Install)> _running = [];

    public Task<AckResponse> InstallAsync(Projection projection, NodeAddress unit)
    {
        lock (_gate)
        {
            if (_running.TryGetValue(unit, out var last) && last.Epoch == projection.Epoch && !last.Install.IsCompleted) return last.Install;
            var install = SendAsync(projection, unit);
            _running[unit] = (projection.Epoch, install);
            return install;
        }
    }

    private async Task<AckResponse> SendAsync(Projection projection, NodeAddress unit)
    {
        // Off the gate before anything else.
        await Task.Yield();
        return await core.Transport.CallAsync(unit, new InstallRequest(projection), core.Closed);
    }
}
