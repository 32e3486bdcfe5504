namespace Tango.Collections;

/// <summary>A node of a <see cref="TangoTree{TValue}"/>.</summary>
/// <param name="Version">1 when the node is created, and one more with each new value. A move keeps it.</param>
[MessagePackObject]
public readonly record struct TreeNode<TValue>(
    [property: Key(0)] TValue Value, [property: Key(1)] long Version);
