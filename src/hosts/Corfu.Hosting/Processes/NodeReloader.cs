using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Corfu.Hosting;

/// <summary>Takes a node's configuration anew at SIGHUP. A file that is not valid changes nothing.</summary>
internal sealed class NodeReloader
{
    // Members that running parts take, and those within members.
    private static readonly string[] s_live = ["peers"];
    private static readonly (string Member, string[] Live)[] s_within =
        [("limits", ["server"]), ("log", ["levels"]), ("http", ["anonymous"])];

    private readonly string _path;
    private readonly NodeRoles _roles;
    private readonly string _name;
    private readonly ImmutableArray<IReloadable> _parts;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();

    // Guarded by _gate: the file's content when the node started.
    private readonly JsonObject _started;

    private NodeReloader(string path, NodeRoles roles, string name, ImmutableArray<IReloadable> parts, ILogger logger)
    {
        (_path, _roles, _name, _parts, _logger) = (path, roles, name, parts, logger);
        _started = Read(path);
    }

    /// <summary>A process whose node does not serve yet ignores the signal, whose default would end it.</summary>
    public static IDisposable? Hold() => OperatingSystem.IsWindows()
        ? null
        : PosixSignalRegistration.Create(PosixSignal.SIGHUP, static context => context.Cancel = true);

    /// <summary>Listens for the signal until the result is disposed.</summary>
    public static IDisposable? Begin(string path, NodeRoles roles, string name, ImmutableArray<IReloadable> parts,
        ILogger logger)
    {
        if (OperatingSystem.IsWindows()) return null;
        var reloader = new NodeReloader(path, roles, name, parts, logger);
        return PosixSignalRegistration.Create(PosixSignal.SIGHUP, context =>
        {
            context.Cancel = true;
            ServiceManager.Tell(ServiceManager.Reloading());
            reloader.Run();
            ServiceManager.Tell("READY=1");
        });
    }

    private void Run()
    {
        lock (_gate)
        {
            var outcome = Reload();
            if (outcome.Fault is { } fault) HostingLog.NotReloaded(_logger, _name, fault);
            else HostingLog.Reloaded(_logger, _name, Said(outcome));
            try
            {
                JsonFile.Write(Path.Combine(Path.GetDirectoryName(Path.GetFullPath(_path))!, ReloadOutcome.FileName),
                    outcome, HostingJson.Default.ReloadOutcome);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                HostingLog.NotReloaded(_logger, _name, $"Its answer cannot be written: {e.Message}");
            }
        }
    }

    private ReloadOutcome Reload()
    {
        try
        {
            var now = NodeConfig.Load(_path, _roles);
            var changes = _parts.SelectMany(part => part.Reload(now)).ToImmutableArray();
            return new ReloadOutcome(DateTimeOffset.UtcNow, changes, [.. NeedRestart(_started, Read(_path))], null);
        }
        catch (Exception e) when (e is CorfuException or ArgumentException or IOException or JsonException
            or UnauthorizedAccessException)
        {
            return new ReloadOutcome(DateTimeOffset.UtcNow, [], [], e.Message);
        }
    }

    private static IEnumerable<string> NeedRestart(JsonObject started, JsonObject now) =>
        from name in Changed(started, now)
        where !s_live.Contains(name)
        let live = s_within.FirstOrDefault(within => within.Member == name).Live
        let isWhole = live is null || started[name] is not (null or JsonObject) || now[name] is not (null or JsonObject)
        from changed in isWhole
            ? [name]
            : Changed(started[name] as JsonObject ?? [], now[name] as JsonObject ?? [])
                .Where(part => !live!.Contains(part)).Select(part => $"{name}.{part}")
        select changed;

    private static IEnumerable<string> Changed(JsonObject before, JsonObject after) =>
        before.Select(member => member.Key).Union(after.Select(member => member.Key))
            .Where(name => !JsonNode.DeepEquals(before[name], after[name]));

    private static JsonObject Read(string path) => JsonNode.Parse(File.ReadAllBytes(path)) as JsonObject ?? [];

    private static string Said(ReloadOutcome outcome)
    {
        var changes = outcome.Changes.IsEmpty ? "nothing has changed" : string.Join("; ", outcome.Changes);
        return outcome.NeedRestart.IsEmpty
            ? changes
            : $"{changes}; a restart is needed for {string.Join(", ", outcome.NeedRestart)}";
    }
}
