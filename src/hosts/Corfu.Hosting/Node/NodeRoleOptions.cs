using System.Text.Json;

namespace Corfu.Hosting;

/// <summary>A role that a node serves.</summary>
public sealed class NodeRoleOptions
{
    /// <summary>The number of a role of <see cref="NodeOptions.KnownRoles"/>.</summary>
    public NodeRole Role { get; set; }

    /// <summary>The folder of a unit's or an acceptor's data; a sequencer keeps none.</summary>
    public string? Folder { get; set; }

    /// <summary>The identity that the folder must have; empty accepts any.</summary>
    public Guid Id { get; set; }

    /// <inheritdoc cref="NodeConfigRole.Settings"/>
    public JsonElement? Settings { get; set; }
}
