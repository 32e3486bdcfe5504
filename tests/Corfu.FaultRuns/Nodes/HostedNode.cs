using Corfu.FaultRuns.Machine;

namespace Corfu.FaultRuns.Nodes;

/// <summary>A node of another system beside the log: its name and host in the network, its configuration, its
/// process.</summary>
internal sealed class HostedNode(string name, int host, int port, string config)
{
    public string Name => name;

    public int Host => host;

    public int Port => port;

    public string Config => config;

    /// <summary>The process that the run has started last.</summary>
    public Child? Process { get; set; }

    /// <summary>The run has killed the process. A process that ends without that is a finding.</summary>
    public bool IsKilled { get; set; }
}
