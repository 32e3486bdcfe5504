using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>Progress of an operation on the layout after an answer.</summary>
/// <param name="Next">Null when it is over.</param>
/// <param name="Result">When it is over: the newest or decided projection; null if there is none, or it gave
/// up.</param>
/// <param name="Decision">Known to be decided from this step on.</param>
public readonly record struct LayoutProgress(LayoutOperation? Next, bool IsOver, Projection? Result,
    Projection? Decision);
