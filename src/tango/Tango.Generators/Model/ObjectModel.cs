namespace Tango.Generators;

/// <summary>All that the emitter needs to know about a [TangoObject] class; no symbols, so that it can be compared and
/// cached.</summary>
/// <param name="Closed">Statements: see <see cref="ClosedTypes"/>.</param>
internal sealed record ObjectModel(
    TypeShell Shell,
    string TypeName,
    EquatableArray<OperationModel> Mutators,
    EquatableArray<OperationModel> Accessors,
    EquatableArray<StateModel> State,
    EquatableArray<string> Closed);

/// <summary>A [Mutator] or [Accessor] method.</summary>
/// <param name="Number">Number of a mutator; 0 for an accessor.</param>
/// <param name="Name">The method's name without Async.</param>
/// <param name="Result">The T of ValueTask&lt;T&gt;, or null.</param>
/// <param name="TakesPlace">Whether the ApplyX method takes the place of the call.</param>
/// <param name="Token">The name of the CancellationToken parameter, or null.</param>
internal sealed record OperationModel(
    int Number,
    string Name,
    string Modifiers,
    string? Result,
    bool MayReject,
    EquatableArray<ParameterModel> Parameters,
    bool TakesPlace,
    string? Token);

/// <param name="IsLogOnly">Whether the ApplyX method does not take the parameter.</param>
internal sealed record ParameterModel(string Type, string Name, bool IsKey, bool IsLogOnly, bool RefusesNull);

/// <summary>A field (or auto-property) that holds view state.</summary>
/// <param name="Comparers">How many comparers of the initial value are kept when a checkpoint is loaded: 0, 1 or
/// 2.</param>
internal sealed record StateModel(string Name, string Type, int Comparers);
