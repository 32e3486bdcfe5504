namespace Tango;

/// <summary>Implemented by generated code on every class marked <see cref="TangoObjectAttribute"/>.</summary>
public interface ITangoObject<TSelf> : ITangoView
    where TSelf : TangoObject, ITangoObject<TSelf>
{
    /// <summary>Static instance, one per closed type.</summary>
    static abstract TangoObjectType ObjectType { get; }
}
