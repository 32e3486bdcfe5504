namespace Corfu.Hosting;

/// <summary>One role that a node serves.</summary>
public sealed class NodeRoleOptions
{
    public NodeRole Role { get; set; }

    /// <summary>Where a unit or an acceptor keeps its data; a sequencer keeps none.</summary>
    public string? Folder { get; set; }

    /// <summary>The identity that the folder must have; empty accepts whichever it has.</summary>
    // R2.
    public Guid Id { get; set; }
}
