namespace Tango;

/// <summary>
/// Implemented by a second view that can be made from a state of the object, so that it opens without all of the
/// object's history. Implement it explicitly: it runs on the view, not on handles.
/// </summary>
/// <typeparam name="TObject">The object whose history the view plays.</typeparam>
public interface ITangoViewOf<in TObject>
    where TObject : TangoObject
{
    /// <summary>Fills a new view, so that it is as after playing the object's whole history. It must depend on the
    /// state alone.</summary>
    /// <param name="state">Read-only; its accessors answer at once.</param>
    ValueTask StartFromAsync(TObject state);
}
