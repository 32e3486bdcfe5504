using System.Text.Json;
using Microsoft.Extensions.Options;

namespace Corfu.Hosting;

/// <summary>The configuration file of a node process (<c>corfu node --config FILE</c>). Folders are relative to the
/// file.</summary>
/// <param name="Log">Log file, relative too; none writes to the console.</param>
public sealed record NodeConfig(
    string Name, Guid Cluster, string Listen, bool Insecure, string? Log, ImmutableArray<NodeConfigRole> Roles)
{
    /// <inheritdoc cref="NodeOptions.Peers"/>
    public ImmutableArray<string> Peers { get; init; }

    /// <inheritdoc cref="NodeOptions.Automatic"/>
    public bool? Automatic { get; init; }

    /// <inheritdoc cref="NodeOptions.FrontEnds"/>
    public ImmutableArray<FrontEndOptions>? FrontEnds { get; init; }

    /// <summary>As <see cref="NodeLimits"/>.</summary>
    public JsonElement? Limits { get; init; }

    internal ImmutableArray<FrontEndOptions> FrontEndsOrNone => FrontEnds is { IsDefault: false } own ? own : [];

    /// <exception cref="NodeStartException">Not readable, or not valid: all faults in one message.</exception>
    public static NodeOptions Load(string path, out string? log)
    {
        var config = JsonFile.Read(path, HostingJson.Default.NodeConfig);
        log = config.Log is null ? null : Path.Combine(Path.GetDirectoryName(Path.GetFullPath(path))!, config.Log);
        return config.ToOptions(path);
    }

    /// <param name="path">The path of the configuration's file, which may not exist yet.</param>
    /// <exception cref="NodeStartException">Not valid: all faults in one message.</exception>
    internal NodeOptions ToOptions(string path)
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
            ConfigFile = full,
        };
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
        foreach (var role in Roles.IsDefault ? [] : Roles)
        {
            options.Roles.Add(new NodeRoleOptions
            {
                Role = role.Role,
                Id = role.Id,
                Folder = role.Folder is null ? null : Path.Combine(folder, role.Folder),
            });
        }

        var result = new NodeOptionsValidator().Validate(Options.DefaultName, options);
        return result.Failed
            ? throw new NodeStartException($"The file {path} is not valid:\n  " + string.Join("\n  ", result.Failures!))
            : options;
    }

    // A file without peers is read as a default array, which cannot be written.
    public void Save(string path) =>
        JsonFile.Write(path, this with { Peers = Peers.IsDefault ? [] : Peers }, HostingJson.Default.NodeConfig);
}

/// <param name="Id">Empty for a sequencer.</param>
/// <param name="Folder">Below the node's folder; null for a sequencer, which stores nothing.</param>
public sealed record NodeConfigRole(NodeRole Role, Guid Id, string? Folder);
