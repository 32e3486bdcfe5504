namespace Tango.Collections;

/// <summary>Change of a node in a change feed; see <see cref="TangoTree{TValue}.ReadChange"/>.</summary>
/// <param name="Value">The node's value from now on; none if the node is gone.</param>
public readonly record struct TreeChange<TValue>(string Path, Lookup<TValue> Value);
