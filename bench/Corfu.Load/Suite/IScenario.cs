namespace Corfu.Load.Suite;

/// <summary>A subject that is measured in a run of <c>all</c>. <see cref="ScenarioList"/> names them all.</summary>
internal interface IScenario
{
    ScenarioInfo Info { get; }

    Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken);
}
