namespace Tango.Collections;

/// <summary>Result of an operation on a <see cref="TangoTree{TValue}"/>. Only <see cref="Done"/> has changed
/// it.</summary>
public enum TreeOutcome
{
    Done,

    /// <summary>There is no node of that path.</summary>
    NotFound,

    /// <summary>There is a node of that path already.</summary>
    Exists,

    /// <summary>The node that would be the parent is not there.</summary>
    NoParent,

    /// <summary>The node has another version than was expected.</summary>
    WrongVersion,

    /// <summary>The node has children.</summary>
    HasChildren,

    /// <summary>A subtree cannot be moved below itself.</summary>
    IntoItself,
}
