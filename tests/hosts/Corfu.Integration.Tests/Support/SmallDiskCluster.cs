namespace Corfu.Integration.Tests.Support;

/// <summary>A cluster whose only unit, only acceptor and sequencer share a real file system of 64 MiB. The node that
/// it began with goes on beside it, without a role of the cluster.</summary>
internal sealed class SmallDiskCluster : IDisposable
{
    public const int Mebibytes = 64;

    private const string Name = "small";

    // A sixteenth of the file system stays free whatever these say.
    private const string Limits =
        """
        {
          "unit": {
            "maxPayload": 65536,
            "store": {
              "logPageSize": 262144, "logMemory": 2097152, "segmentSize": 4194304, "reserve": 2097152,
              "headroom": 4194304, "hotBytes": 1048576, "mapIndexSize": 1048576, "mapMemory": 1048576
            }
          }
        }
        """;

    private readonly SmallDisk _disk;

    private SmallDiskCluster(LocalNodes nodes, SmallDisk disk, string address) =>
        (Nodes, _disk, Address) = (nodes, disk, address);

    public LocalNodes Nodes { get; }

    /// <summary>The address of the node on the small disk.</summary>
    public string Address { get; }

    public string Connection => $"corfu://{Address}";

    /// <summary>Null where mounts are not allowed.</summary>
    public static async Task<SmallDiskCluster?> TryStartAsync()
    {
        var nodes = new LocalNodes();
        SmallDisk? disk = null;
        try
        {
            disk = SmallDisk.TryMount(nodes.PathOf(Name), Mebibytes);
            if (disk is null)
            {
                nodes.Dispose();
                return null;
            }

            var (first, address) = (TestPorts.Address(), TestPorts.Address());
            await nodes.InitAsync("first", first);
            await nodes.JoinAsync(Name, first, address, "unit,acceptor,sequencer", Limits);
            await ReconfigureAsync(first, "auto", "off");
            await ReconfigureAsync(first, "add-unit", address);
            await ReconfigureAsync(first, "remove-unit", first);
            await ReconfigureAsync(first, "set-acceptors", address);
            return new SmallDiskCluster(nodes, disk, address);
        }
        catch
        {
            disk?.Dispose();
            nodes.Dispose();
            throw;
        }
    }

    /// <summary>Kills the node on the small disk and starts it again.</summary>
    public async Task RestartAsync()
    {
        await Nodes.StopAsync(Name, "KILL");
        await Nodes.StartAsync(Name);
    }

    public Task ReconfigureAsync(string command, params string[] arguments) =>
        ReconfigureAsync(Address, command, arguments);

    public void Dispose()
    {
        _disk.Dispose();
        Nodes.Dispose();
    }

    private static async Task ReconfigureAsync(string node, string command, params string[] arguments) =>
        (await CorfuTool.RunAsync(["reconfigure", command, "--connect", $"corfu://{node}", .. arguments])).Require();
}
