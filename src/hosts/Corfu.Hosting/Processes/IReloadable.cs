namespace Corfu.Hosting;

/// <summary>A part of a node that takes a changed configuration while it runs: the node itself, a front end
/// (<see cref="IFrontEnd.StartAsync"/>), or an extension (<see cref="INodeExtension.StartAsync"/>).</summary>
public interface IReloadable
{
    /// <summary>Takes what may change; all else stays as it is.</summary>
    /// <param name="now">The configuration, valid as a whole.</param>
    /// <returns>The changes, for people; empty: none.</returns>
    ImmutableArray<string> Reload(NodeOptions now);
}
