using System.Net;
using System.Net.Sockets;
using Corfu.Agent;
using Corfu.Server;

namespace Corfu.Hosting;

/// <summary>Tells the listener at which addresses the cluster's processes are: peers there have reserved
/// places.</summary>
internal sealed class PeerAddresses : IDisposable
{
    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(5);

    private readonly ClusterAgent _agent;
    private readonly KnownAddresses _known;
    private readonly ITimer _timer;
    private ImmutableArray<string> _hosts = [];
    private int _busy;

    public PeerAddresses(ClusterAgent agent, KnownAddresses known, TimeProvider time)
    {
        _agent = agent;
        _known = known;
        _timer = time.CreateTimer(static me => _ = ((PeerAddresses)me!).UpdateAsync(), this, TimeSpan.Zero, s_interval);
    }

    public void Dispose() => _timer.Dispose();

    // Names are resolved when the processes change, not each time: an address that changes comes with another epoch or
    // another endpoint.
    private async Task UpdateAsync()
    {
        if (Interlocked.Exchange(ref _busy, 1) == 1) return;
        try
        {
            ImmutableArray<string> hosts = [.. _agent.Processes.Select(process => process.Host).Distinct().Order()];
            if (hosts.SequenceEqual(_hosts)) return;
            HashSet<IPAddress> addresses = [];
            var isComplete = true;
            foreach (var host in hosts)
            {
                if (await ResolveAsync(host) is { } found) addresses.UnionWith(found);
                else isComplete = false;
            }

            _known.Replace(addresses);
            if (isComplete) _hosts = hosts;
        }
        finally
        {
            Volatile.Write(ref _busy, 0);
        }
    }

    private static async Task<IPAddress[]?> ResolveAsync(string host)
    {
        if (IPAddress.TryParse(host, out var address)) return [address];
        try
        {
            return await Dns.GetHostAddressesAsync(host);
        }
        catch (SocketException)
        {
            return null;
        }
    }
}
