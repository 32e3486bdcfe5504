namespace Tango;

/// <summary>
/// A [TangoObject] class whose state holds places of its own calls and reads their arguments from the log. The log is
/// not trimmed of them while they are in the state.
/// </summary>
/// <remarks>
/// Take places from the added last parameter of an <c>ApplyX</c> method only. One that came as an argument, or from
/// another object, may be trimmed. A small state may hold much of the log: offer a method that sends old calls again.
/// A class that comes to implement this gets another type name: programs that still run the old class make checkpoints
/// that hold no places.
/// </remarks>
public interface ITangoIndex
{
    /// <summary>On a view: the lowest place that its state holds, null if it holds none. It is asked when a checkpoint
    /// is made, beside playback, and may take its time.</summary>
    LogPlace? LowestPlace { get; }
}
