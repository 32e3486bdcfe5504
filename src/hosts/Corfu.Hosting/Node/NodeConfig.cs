using System.Text.Json;
using Microsoft.Extensions.Options;

namespace Corfu.Hosting;

/// <summary>The configuration file of a node process (<c>corfu node --config FILE</c>). Folders are relative to the
/// file.</summary>
/// <param name="Log">None: events go to the console.</param>
public sealed record NodeConfig(
    string Name, Guid Cluster, string Listen, bool Insecure, NodeLogOptions? Log,
    ImmutableArray<NodeConfigRole> Roles)
{
    /// <inheritdoc cref="NodeOptions.Peers"/>
    public ImmutableArray<string> Peers { get; init; }

    /// <inheritdoc cref="NodeOptions.Automatic"/>
    public bool? Automatic { get; init; }

    /// <summary>None: connections are plain.</summary>
    public NodeTls? Tls { get; init; }

    /// <inheritdoc cref="NodeOptions.FrontEnds"/>
    public ImmutableArray<FrontEndOptions>? FrontEnds { get; init; }

    /// <inheritdoc cref="NodeOptions.Http"/>
    public NodeHttpOptions? Http { get; init; }

    /// <inheritdoc cref="NodeOptions.Telemetry"/>
    public NodeTelemetryOptions? Telemetry { get; init; }

    /// <summary>As <see cref="NodeLimits"/>.</summary>
    public JsonElement? Limits { get; init; }

    internal ImmutableArray<FrontEndOptions> FrontEndsOrNone => FrontEnds is { IsDefault: false } own ? own : [];

    /// <exception cref="NodeStartException">Not readable, or not valid: all faults in one message.</exception>
    public static NodeOptions Load(string path) => Load(path, NodeRoles.Log);

    /// <summary>As above, for a program that serves further roles.</summary>
    /// <exception cref="NodeStartException">Not readable, or not valid: all faults in one message.</exception>
    public static NodeOptions Load(string path, NodeRoles roles) =>
        JsonFile.Read(path, HostingJson.Default.NodeConfig).ToOptions(path, roles);

    /// <param name="path">The path of the configuration's file, which may not exist yet.</param>
    /// <exception cref="NodeStartException">Not valid: all faults in one message.</exception>
    /// <param name="skipsUnknown">Roles that the program does not serve are no faults.</param>
    internal NodeOptions ToOptions(string path, NodeRoles? roles = null, bool skipsUnknown = false)
    {
        var full = Path.GetFullPath(path);
        var folder = Path.GetDirectoryName(full)!;
        var options = new NodeOptions
        {
            Name = Name ?? "",
            Cluster = Cluster,
            Listen = Listen ?? "",
            Insecure = Insecure,
            Automatic = Automatic ?? true,
            Tls = Tls?.ToOptions(folder) ?? new TlsOptions(),
            TlsMode = Tls?.Mode,
            ConfigFile = full,
            KnownRoles = roles ?? NodeRoles.Log,
            Http = Http is null ? null : Http with { Listen = Http.Listen ?? "" },
            Telemetry = Telemetry,
            Log = Log is null ? new NodeLogOptions() : Log with { File = FileIn(folder, Log.File) },
        };
        if (options.Http is { Backups: { Length: > 0 } backups } http)
            options.Http = http with { Backups = Path.Combine(folder, backups) };
        try
        {
            if (Limits is { } limits) options.Limits = NodeLimits.Read(limits);
        }
        catch (JsonException e)
        {
            throw new NodeStartException($"The file {path} is not valid: limits: {e.Message}", e);
        }

        foreach (var peer in Peers.IsDefault ? [] : Peers) options.Peers.Add(peer);
        foreach (var frontEnd in FrontEndsOrNone)
            options.FrontEnds.Add(frontEnd with { Kind = frontEnd.Kind ?? "", Listen = frontEnd.Listen ?? "" });
        List<string> faults = [];
        foreach (var role in Roles.IsDefault ? [] : Roles)
        {
            if (options.KnownRoles.Find(role.Role) is not { } known)
            {
                if (skipsUnknown) continue;
                faults.Add($"Roles: '{role.Role}' is none that this program serves: {options.KnownRoles}.");
                continue;
            }

            options.Roles.Add(new NodeRoleOptions
            {
                Role = known.Role,
                Id = role.Id,
                Folder = role.Folder is null ? null : Path.Combine(folder, role.Folder),
                Settings = role.Settings,
            });
        }

        faults.AddRange(new NodeOptionsValidator().Validate(Options.DefaultName, options).Failures ?? []);
        return faults.Count > 0
            ? throw new NodeStartException($"The file {path} is not valid:\n  " + string.Join("\n  ", faults))
            : options;
    }

    // The name of a file that has none is a fault, and stays so.
    private static string? FileIn(string folder, string? file) =>
        string.IsNullOrEmpty(file) ? file : Path.Combine(folder, file);

    // A file without peers is read as a default array, which cannot be written.
    public void Save(string path) =>
        JsonFile.Write(path, this with { Peers = Peers.IsDefault ? [] : Peers }, HostingJson.Default.NodeConfig);
}

/// <param name="Role">As <see cref="INodeRole.Name"/>.</param>
/// <param name="Id">Empty for a sequencer.</param>
/// <param name="Folder">Below the node's folder; null for a sequencer, which stores nothing.</param>
public sealed record NodeConfigRole(string Role, Guid Id, string? Folder)
{
    /// <summary>Settings that the role itself reads. Default: none.</summary>
    public JsonElement? Settings { get; init; }

    internal bool Is(INodeRole role) => role.Name.Equals(Role, StringComparison.OrdinalIgnoreCase);

    internal bool IsSame(NodeConfigRole other) => string.Equals(Role, other.Role, StringComparison.OrdinalIgnoreCase);
}
