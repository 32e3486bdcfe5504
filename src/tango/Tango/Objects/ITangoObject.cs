namespace Tango;

/// <summary>Implemented by generated code on every class marked <see cref="TangoObjectAttribute"/>.</summary>
public interface ITangoObject<TSelf> : ITangoView
    where TSelf : TangoObject, ITangoObject<TSelf>
{
    /// <summary>One static instance per closed type.</summary>
    static abstract TangoObjectType ObjectType { get; }
}
